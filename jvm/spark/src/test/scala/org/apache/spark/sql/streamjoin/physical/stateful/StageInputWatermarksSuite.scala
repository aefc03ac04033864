package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchArrivals,
  StageInputWatermarks
}

/** The watermarks that a task receives, by the time of its serialization. */
class StageInputWatermarksSuite extends AnyFunSuite {

  private val brought = BatchArrivals(Seq(Map("" -> 7L)), None, batchTimeMs = 1L, maxGroups = 1)

  private def inTask(arrivals: StageInputWatermarks): StageInputWatermarks = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(arrivals)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
      .asInstanceOf[StageInputWatermarks]
  }

  test("a task serialized before its inputs were read fails") {
    val early = inTask(new StageInputWatermarks(() => None))
    assert(intercept[IllegalStateException](early()).getMessage.contains("had been read"))
  }

  test("a task gets the watermarks at its serialization, which do not change afterwards") {
    var come = Option.empty[BatchArrivals]
    val awaited = new StageInputWatermarks(() => come)
    val early = inTask(awaited)
    come = Some(brought)
    assert(inTask(awaited)() == brought)
    come = Some(brought.copy(arrivals = Seq(Map("" -> 8L))))
    assert(inTask(awaited)() == brought)
    intercept[IllegalStateException](early())
  }

  test("received watermarks can be serialized again by the receiver") {
    val first = inTask(new StageInputWatermarks(() => Some(brought)))
    assert(inTask(first)() == brought)
  }
}
