package org.apache.spark.sql.streamjoin.builtin

import java.io.{File, InputStream}
import java.net.JarURLConnection
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkConf, SparkThrowable}
import org.apache.spark.sql.streaming.StreamingJoinSuite

/** Checkpoints of Spark's join, from versions that do not record the operator of a state. */
class OldCheckpointSuite extends StreamingJoinSuite {

  override protected def testMode: Mode = Mode.WithVCF

  override protected def sparkConf: SparkConf = ReplacingSession.conf(super.sparkConf)

  for (version <- Seq("2.4.0", "3.5.1"); joinType <- Seq("inner", "left_outer"))
    testWithVirtualColumnFamilyJoins(s"a checkpoint of Spark $version is refused - $joinType") {
      withTempDir { checkpoint =>
        copyFromJar(s"structured-streaming/checkpoint-version-$version-streaming-join", checkpoint)
        val (input, joined) = setupSelfJoin(joinType)
        input.addData((1, 1L), (2, 2L), (3, 3L), (4, 4L), (5, 5L))
        val failure: Throwable = intercept[Exception] {
          testStream(joined)(
            StartStream(checkpointLocation = checkpoint.getAbsolutePath),
            AddData(input, (6, 6L), (7, 7L), (8, 8L), (9, 9L), (10, 10L)),
            CheckNewAnswer()
          )
        }
        val causes = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null)
        val conditions = causes.collect { case e: SparkThrowable => e.getCondition }.toSeq
        assert(conditions.contains("STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"))
      }
    }

  private def copyFromJar(folder: String, to: File): Unit = {
    val connection = getClass.getResource(s"/$folder").openConnection()
    val jar = connection.asInstanceOf[JarURLConnection].getJarFile
    jar.entries().asScala.filter(e => e.getName.startsWith(s"$folder/") && !e.isDirectory).foreach {
      entry =>
        val file = to.toPath.resolve(entry.getName.stripPrefix(s"$folder/"))
        Files.createDirectories(file.getParent)
        val in: InputStream = jar.getInputStream(entry)
        try Files.copy(in, file)
        finally in.close()
    }
  }
}
