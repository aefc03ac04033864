package io.streamjoin.state.segment.history

import java.io._
import java.util.zip.CRC32C

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.testing.RandomCases

class PackedInputSuite extends AnyFunSuite {
  import PackedInputSuite._

  test(
    "the input reads what was written from partial reads, with the checksum of what it read"
  ) {
    RandomCases.forAll(50) { random =>
      val items = Seq.fill(random.nextInt(2000))(Item.of(random))
      val written = bytes(items)
      val beyond = new Array[Byte](8 + random.nextInt(100000))
      random.nextBytes(beyond)
      val in = new PackedInput(new InPieces(written ++ beyond, random))
      for (one <- items) {
        if (random.nextInt(20) == 0) in.checksum()
        assert(one.read(in) == one)
      }
      assert(in.checksum() == sum(written))
      in.long()
      assert(in.checksum() == sum(written ++ beyond.take(8)))
    }
  }

  test("a truncated input fails with an EOFException for each kind of value") {
    val random = new Random(0)
    val all =
      Seq(Number(1L << 40), Distance(-1L << 50), Whole(7), Fixed(-1), Text("två"), Bytes(40))
    for (one <- all; whole = bytes(Seq(one)); cut <- whole.indices) {
      val in = new PackedInput(new InPieces(whole.take(cut), random))
      assert(intercept[EOFException](one.read(in)).getMessage.startsWith("it ends "), s"$one $cut")
    }
  }

  test("a size beyond the end of the input does not allocate that size") {
    val in = new PackedInput(new ByteArrayInputStream(new Array[Byte](100000)))
    intercept[EOFException](in.take(Int.MaxValue - 16))
    assert(in.bytes.length <= (1 << 18))
  }
}

private object PackedInputSuite {

  /** A value that is written and read. */
  sealed trait Item {
    def write(out: PackedOutput, stream: DataOutputStream): Unit
    def read(in: PackedInput): Item
  }

  final case class Number(n: Long) extends Item {
    override def write(out: PackedOutput, stream: DataOutputStream): Unit = out.number(n)
    override def read(in: PackedInput): Item = Number(in.number())
  }

  final case class Distance(n: Long) extends Item {
    override def write(out: PackedOutput, stream: DataOutputStream): Unit = out.distance(n)
    override def read(in: PackedInput): Item = Distance(in.distance())
  }

  final case class Fixed(n: Long) extends Item {
    override def write(out: PackedOutput, stream: DataOutputStream): Unit = out.long(n)
    override def read(in: PackedInput): Item = Fixed(in.long())
  }

  /** An int as `DataOutputStream` writes it. */
  final case class Whole(n: Int) extends Item {
    override def write(out: PackedOutput, stream: DataOutputStream): Unit = {
      out.flush()
      stream.writeInt(n)
    }
    override def read(in: PackedInput): Item = Whole(in.int())
  }

  final case class Text(text: String) extends Item {
    override def write(out: PackedOutput, stream: DataOutputStream): Unit = out.text(text)
    override def read(in: PackedInput): Item = Text(in.text())
  }

  /** That many bytes; each contains its position. */
  final case class Bytes(size: Int) extends Item {
    private def all = Array.tabulate(size)(_.toByte)

    override def write(out: PackedOutput, stream: DataOutputStream): Unit = out.bytes(all, 0, size)

    override def read(in: PackedInput): Item = {
      val at = in.take(size)
      assert(in.bytes.slice(at, at + size).sameElements(all))
      this
    }
  }

  object Item {
    def of(random: Random): Item = {
      val n = random.nextLong() >> random.nextInt(64)
      random.nextInt(12) match {
        case 0                    => Text("x" * random.nextInt(300) + "ü\u0000")
        case 1                    => Whole(n.toInt)
        case 2 | 3                => Fixed(n)
        case 4 | 5                => Bytes(random.nextInt(100))
        case 6 if n.toInt % 8 > 6 => Bytes(random.nextInt(300000))
        case 7 | 8 | 9            => Number(n)
        case _                    => Distance(n)
      }
    }
  }

  def bytes(items: Seq[Item]): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val stream = new DataOutputStream(buffer)
    val out = new PackedOutput(stream)
    items.foreach(_.write(out, stream))
    out.flush()
    buffer.toByteArray
  }

  def sum(bytes: Array[Byte]): Long = {
    val crc = new CRC32C
    crc.update(bytes, 0, bytes.length)
    crc.getValue
  }

  /** Returns fewer bytes than requested, as streams do. */
  final class InPieces(all: Array[Byte], random: Random) extends ByteArrayInputStream(all) {
    override def read(into: Array[Byte], at: Int, size: Int): Int =
      super.read(into, at, if (size > 1) 1 + random.nextInt(math.min(size, 40000)) else size)
  }
}
