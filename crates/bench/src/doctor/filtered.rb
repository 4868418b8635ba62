# Puts itself under as many seccomp filters as the first argument says, then becomes the command that follows.
rule = ->(code, value) { [code, 0, 0, value].pack("SCCL") }
rules = [rule.(0x20, 0)] + Array.new(60) { |n| rule.(0x15, 0x4000_0000 + n) } + [rule.(0x06, 0x7fff_0000)]
program = [rules.size].pack("Sx6") + [rules.join].pack("p")
syscall(157, 38, 1, 0, 0, 0)
address = [program].pack("p").unpack1("Q")
Integer(ARGV.shift).times { syscall(157, 22, 2, address, 0, 0) }
exec(*ARGV)
