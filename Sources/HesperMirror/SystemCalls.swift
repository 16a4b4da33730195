import Foundation

// Other names for system calls that have the same names as methods of `Folder`.

func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int { read(file, buffer, count) }

func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int { write(file, buffer, count) }

/// Opens a file for writing, and makes it if there is none.
func systemOpenToWrite(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
