package io.streamjoin.testing

import java.io.File
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

/** Test files on the local disk. */
object LocalFiles {

  /** Creates an empty file. */
  val create: () => File = () => File.createTempFile("rows", ".test")

  /** Returns a file that cannot be written to. */
  val full: () => File = () => {
    val file = create()
    file.delete()
    Files.createSymbolicLink(file.toPath, Paths.get("/dev/full")).toFile
  }

  def in[T](test: Path => T): T = {
    val folder = Files.createTempDirectory("test")
    try test(folder)
    finally Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }
}
