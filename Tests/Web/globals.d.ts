// Classes of browsers that are missing in the libraries of TypeScript 4.8.
declare class CompressionStream {
  constructor(format: "gzip" | "deflate" | "deflate-raw")
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}
declare class DecompressionStream extends CompressionStream {}
