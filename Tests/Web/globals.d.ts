// What browsers have and the libraries of TypeScript 4.8 do not know.
declare class CompressionStream {
  constructor(format: "gzip" | "deflate" | "deflate-raw")
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}
declare class DecompressionStream extends CompressionStream {}
