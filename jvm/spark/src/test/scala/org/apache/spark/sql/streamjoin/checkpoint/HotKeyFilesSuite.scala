package org.apache.spark.sql.streamjoin.checkpoint

import java.nio.file.{Files, Path => LocalPath}

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

  test("keys of format version 1 have the narrowest buckets") {
    withFolder { (folder, files) =>
      Files.createDirectories(folder.resolve(HotKeyFiles.Folder))
      Files.writeString(
        folder.resolve(HotKeyFiles.Folder).resolve("4"),
        """{"version":1,"buckets":{"shift":-5,"reach":15,"width":60},""" +
          """"keys":[{"hash":8,"partition":3,"from":-3}]}"""
      )
      assert(files.read(4).contains(HotKeys(buckets, Seq(HotKey(8, 3, -3)))))
    }
  }

  test("a file of another format version or with damaged content is refused") {
    withFolder { (folder, files) =>
      files.write(4, keys(1))
      val file = folder.resolve(HotKeyFiles.Folder).resolve("4")
      val written = Files.readString(file)
      assert(written.contains("\"version\":2"))
      val random = new Random(1)
      val wrong = Seq(
        written.replace("\"version\":2", "\"version\":3") -> "another version of streamjoin",
        written.replace("\"version\":2,", "") -> "another version of streamjoin",
        written.replace("\"width\":60", "\"width\":6") -> "_hotKeys/4 cannot be read",
        "" -> "_hotKeys/4 cannot be read",
        written.take(random.nextInt(written.length - 1)) -> "_hotKeys/4 cannot be read"
      )
      for ((text, why) <- wrong) {
        // Hadoop's checksum is that of the original content
        Files.deleteIfExists(file.resolveSibling(".4.crc"))
        Files.writeString(file, text)
        val refused = intercept[StreamJoinRuntimeException](files.read(7))
        assert(refused.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        assert(refused.getMessage.contains(why), text)
      }
      assert(files.read(3).isEmpty)
    }
  }
}
