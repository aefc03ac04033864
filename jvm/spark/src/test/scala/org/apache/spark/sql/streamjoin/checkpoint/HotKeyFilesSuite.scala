package org.apache.spark.sql.streamjoin.checkpoint

import java.nio.file.{Files, Path => LocalPath, StandardCopyOption}

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException

import io.streamjoin.placement.{HotKey, HotKeys, ReachBuckets}

/** The files of hot keys in a checkpoint. */
class HotKeyFilesSuite extends AnyFunSuite {

  private val buckets = ReachBuckets(-5, 15, 60)

  private def keys(hashes: Long*) =
    HotKeys(buckets, hashes.map(h => HotKey(h, 3, h / 2 - 7, wider = 4)))

  private def withFolder(check: (LocalPath, HotKeyFiles) => Unit): Unit = {
    val folder = Files.createTempDirectory("hot-keys")
    try check(folder, new HotKeyFiles(new Path(folder.toUri), new Configuration))
    finally org.apache.spark.util.Utils.deleteRecursively(folder.toFile)
  }

  test("a batch has its keys and those of earlier batches") {
    withFolder { (_, files) =>
      assert(files.read(9).isEmpty)
      files.write(4, keys(1, Long.MinValue))
      files.write(12, keys(Long.MaxValue))
      assert(files.read(3).isEmpty)
      assert(files.read(4).contains(keys(1, Long.MinValue)))
      assert(files.read(11).contains(keys(1, Long.MinValue)))
      assert(files.read(12).contains(keys(1, Long.MinValue, Long.MaxValue)))
    }
  }

  test("removeAfter deletes the keys of batches after the one a checkpoint is reset to") {
    withFolder { (_, files) =>
      Seq(4L, 9L, 10L, 100L).foreach(b => files.write(b, keys(b)))
      files.removeAfter(9)
      assert(files.read(1000).contains(keys(4, 9)))
      files.write(10, keys(11))
      assert(files.read(1000).contains(keys(4, 9, 11)))
    }
  }

  private def refused(read: => Any, why: String): Unit = {
    val refused = intercept[StreamJoinRuntimeException](read)
    assert(refused.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
    assert(refused.getMessage.contains(why))
  }

  test("a file of another format version is refused") {
    withFolder { (folder, files) =>
      files.write(4, keys(1))
      val file = folder.resolve(HotKeyFiles.Folder).resolve("4")
      val text = Files.readString(file).split("\n")(1)
      assert(text.contains("\"version\":1"))
      for (other <- Seq("\"version\":2", "\"v\":1").map(text.replace("\"version\":1", _))) {
        Files.writeString(file, s"${Checksum.of(other)}\n$other")
        refused(files.read(7), "another version of streamjoin")
      }
    }
  }

  test("a file with any changed, missing or additional byte is refused") {
    withFolder { (folder, files) =>
      files.write(4, keys(1))
      val file = folder.resolve(HotKeyFiles.Folder).resolve("4")
      val written = Files.readAllBytes(file)
      val random = new Random(1)
      val wrong = written.indices.flatMap { i =>
        val changed = written.clone()
        changed(i) = (changed(i) + 1 + random.nextInt(255)).toByte
        Seq(changed, written.take(i))
      } :+ (written :+ '\n'.toByte)
      for (bytes <- wrong) {
        Files.write(file, bytes)
        refused(files.read(7), "_hotKeys/4")
      }
      assert(files.read(3).isEmpty)
    }
  }

  test("rows are refused with other hot keys than those by which they were placed") {
    withFolder { (folder, files) =>
      def sum(batch: Long) = HotKeySums.of(files.read(batch))
      def check(batch: Long, stored: Option[Long]): Unit =
        HotKeySums(sum(batch), None).check("/c/state/0/3", stored)
      files.write(4, keys(1))
      files.write(9, keys(2))
      val sums = Seq(3L, 4L, 9L).map(sum)
      assert(sums.distinct.length == 3 && sums.head.isEmpty)
      Seq(3L, 4L, 9L).zip(sums).foreach { case (batch, stored) => check(batch, stored) }
      for (other <- sums.init) refused(check(9, other), "its rows are not placed by the files in")
      // an older file instead of the one that was written last
      val (older, newer) = (folder.resolve("_hotKeys/4"), folder.resolve("_hotKeys/9"))
      Files.copy(older, newer, StandardCopyOption.REPLACE_EXISTING)
      refused(check(9, sums.last), "/c/state/0/3")
      Files.delete(newer)
      refused(check(9, sums.last), "Expected: hot keys with the checksum")
      Files.delete(older)
      refused(check(9, sums.last), "Found: no hot keys.")
    }
  }

  test("the checksum beside the rows is written when the hot keys change") {
    val (one, two) = (HotKeySums.of(Some(keys(1))), HotKeySums.of(Some(keys(1, 2))))
    assert(HotKeySums.of(Some(keys())).isEmpty)
    for {
      (sums, written) <- Seq(
        HotKeySums(None, one) -> one,
        HotKeySums(one, two) -> two,
        HotKeySums(one, one) -> None,
        HotKeySums.NoKeys -> None
      )
    } assert(sums.changed == written)
  }
}
