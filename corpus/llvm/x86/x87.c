// long double: the x87 stack.
long double poly(long double x, int n) { long double s = 1.25L; for (int k = 0; k < n; ++k) s = s * x + (long double)k / 3; return s; }
long double opaque(long double);
long double across(long double a, long double b, long double c) { long double x = opaque(a * b) + c; return opaque(x - a) * b + x * c; }
long double many(const long double* p) { return p[0] * p[1] + p[2] * p[3] - p[4] / p[5] + (p[0] - p[5]) * (p[1] + p[4]) / (p[2] - p[3]) + p[6] * p[7] - p[8] * p[0]; }
int compare(long double a, long double b) { return a < b ? 1 : a == b ? 2 : (int)(a - b); }
double narrow(long double a, double b, float c) { return (double)(a * b) + (double)(a / c); }
