# regduel in an image: docker build -t regduel . && docker run --rm regduel duel --random 200
#                      docker run --rm -v "$PWD:/work" regduel duel my_kernel.ptx --regs 32
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates dpkg-dev file
COPY . /regduel
WORKDIR /regduel
RUN scripts/install-deps && cmake --preset release && cmake --build --preset release --target regduel && \
    cpack --config build/release/CPackConfig.cmake -D CPACK_COMPONENTS_ALL=program -B build/package

FROM debian:12-slim
COPY --from=build /regduel/build/package/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb python3 && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["regduel"]
CMD ["duel", "--regs", "24,32,64,255", "/usr/share/regduel/examples/ptx"]
