autocmd BufNewFile,BufRead *.rir setfiletype rir
