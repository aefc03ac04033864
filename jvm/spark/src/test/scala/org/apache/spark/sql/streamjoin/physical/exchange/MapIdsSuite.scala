package org.apache.spark.sql.streamjoin.physical.exchange

import java.io.{ByteArrayOutputStream, ObjectOutputStream}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** The compact form of map ids represents the same ids. */
class MapIdsSuite extends AnyFunSuite {

  private def written(ranges: MapIds): Int = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(ranges)
    out.close()
    bytes.size
  }

  test("the same ids in any order are equal, others are not") {
    val rng = new Random(1)
    def some = Seq.fill(rng.nextInt(6))(rng.nextInt(8).toLong).toSet
    for (_ <- 0 until 10000) {
      val (a, b) = (some, some)
      val (x, y) = (MapIds.of(a.toArray), MapIds.of(rng.shuffle(b.toSeq).toArray))
      assert((x == y) == (a == b), s"$a, $b")
      assert(x.count == a.size)
      if (a == b) assert(x.hashCode == y.hashCode)
    }
  }

  test("the consecutive ids of a stage take as many bytes as one id") {
    val (one, many) = (Array(7L), Array.tabulate(10000)(_ + 7L))
    assert(written(MapIds.of(many)) == written(MapIds.of(one)))
    assert(MapIds.of(many).count == 10000)
  }
}
