package io.streamjoin.state.segment.pages

import java.io.{File, RandomAccessFile, UncheckedIOException}
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.testing.LocalFiles

class SpillFileSuite extends AnyFunSuite {

  private def bytes(length: Int, value: Int) = Array.fill(length)(value.toByte)

  private def read(file: SpillFile, extent: Extent): Seq[Byte] = {
    val into = new Array[Byte](extent.length)
    file.read(extent.position, into, extent.length)
    into.toSeq
  }

  /** A spill file with a second link, which remains when the file's own name is deleted. */
  private def linked(test: (SpillFile, Path) => Unit): Unit = LocalFiles.in { folder =>
    val link = folder.resolve("link")
    val file = new SpillFile(() => {
      val path = Files.createFile(folder.resolve("rows"))
      Files.createLink(link, path)
      path.toFile
    })
    try test(file, link)
    finally file.close()
  }

  test("the file reads what it wrote and reuses released extents") {
    val file = new SpillFile(LocalFiles.create)
    val some = Seq(4096, 4000, 10000).map(n => file.write(bytes(n, n), n))
    val size = file.size
    assert(size == 4096 + 4096 + 16384)
    file.release(some.head)
    val again = file.write(bytes(3000, 1), 3000)
    assert(again.position == some.head.position && file.size == size)
    assert(read(file, again) == bytes(3000, 1).toSeq)
    for (extent <- some.tail)
      assert(read(file, extent) == bytes(extent.length, extent.length).toSeq)
    file.close()
  }

  test("the file is created by the first write and has no name after it") {
    var made = Option.empty[File]
    val file = new SpillFile(() => {
      made = Some(LocalFiles.create())
      made.get
    })
    assert(made.isEmpty && file.size == 0)
    file.write(bytes(10, 1), 10)
    assert(!made.get.exists)
    file.close()
    assert(file.size == 0)
  }

  test("the file is truncated when all extents are released") {
    linked { (file, link) =>
      val some = Seq.fill(3)(file.write(bytes(5000, 7), 5000))
      assert(Files.size(link) > 15000)
      some.foreach(file.release)
      assert(file.size == 0 && Files.size(link) == 0)
      val extent = file.write(bytes(600, 8), 600)
      assert(extent.position == 0 && read(file, extent) == bytes(600, 8).toSeq)
    }
  }

  test("an interrupted thread can still read and write the file") {
    val file = new SpillFile(LocalFiles.create)
    val extent = file.write(bytes(600, 8), 600)
    Thread.currentThread.interrupt()
    try assert(read(file, extent) == bytes(600, 8).toSeq)
    finally assert(Thread.interrupted())
    assert(read(file, file.write(bytes(600, 9), 600)) == bytes(600, 9).toSeq)
    file.close()
  }

  test("a write to a full disk fails with the cause and marks the file as failed") {
    assume(Files.exists(Paths.get("/dev/full")))
    val file = new SpillFile(LocalFiles.full)
    val e = intercept[UncheckedIOException](file.write(bytes(600, 8), 600))
    assert(e.getMessage.startsWith("rows on the local disk cannot be written, in "))
    assert(e.getMessage.endsWith("No space left on device"))
    assert(file.failed)
    file.close()
  }

  test("a read of a truncated file fails and marks the file as failed") {
    linked { (file, link) =>
      val extent = file.write(bytes(6000, 8), 6000)
      assert(!file.failed)
      val other = new RandomAccessFile(link.toFile, "rw")
      other.setLength(5000)
      other.close()
      val e = intercept[UncheckedIOException](read(file, extent))
      assert(e.getMessage.startsWith("rows on the local disk cannot be read, in "))
      assert(file.failed)
    }
  }

  test("a write to a missing folder fails with its path and marks the file as failed") {
    val file = new SpillFile(() => new File("/not/there/rows"))
    val e = intercept[UncheckedIOException](file.write(bytes(600, 8), 600))
    assert(e.getMessage.contains("/not/there/rows"))
    assert(file.failed)
    file.close()
  }
}
