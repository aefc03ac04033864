package io.streamjoin.benchmarks

import java.io.IOException
import java.nio.file._
import java.nio.file.attribute.BasicFileAttributes

/** Where a run leaves its checkpoints. Other threads may still move files in it. */
final class TemporaryFolder {
  val path: Path = Files.createTempDirectory("streamjoin-benchmark")

  /** The bytes of all files below a folder in this one. */
  def bytesIn(name: String): Long = {
    var bytes = 0L
    walk(path.resolve(name))((_, attributes) => bytes += attributes.size)(_ => ())
    bytes
  }

  def delete(): Unit =
    walk(path)((file, _) => Files.deleteIfExists(file): Unit)(folder =>
      folder.toFile.delete(): Unit
    )

  private def walk(from: Path)(file: (
      Path,
      BasicFileAttributes
  ) => Unit)(left: Path => Unit): Unit = {
    Files.walkFileTree(
      from,
      new SimpleFileVisitor[Path] {
        override def visitFile(found: Path, attributes: BasicFileAttributes): FileVisitResult = {
          file(found, attributes)
          FileVisitResult.CONTINUE
        }

        override def visitFileFailed(gone: Path, e: IOException): FileVisitResult =
          FileVisitResult.CONTINUE

        override def postVisitDirectory(folder: Path, e: IOException): FileVisitResult = {
          left(folder)
          FileVisitResult.CONTINUE
        }
      }
    )
    ()
  }
}
