package io.streamjoin.placement

/** A partition, or none: an `Option` that is not allocated, for it is asked for each row. */
final class MaybePartition private (private val number: Int) extends AnyVal {

  def isEmpty: Boolean = number < 0

  def nonEmpty: Boolean = number >= 0

  def get: Int = if (isEmpty) throw new NoSuchElementException("no partition") else number

  def getOrElse(other: Int): Int = if (isEmpty) other else number

  def contains(partition: Int): Boolean = nonEmpty && number == partition

  def toOption: Option[Int] = if (isEmpty) None else Some(number)

  override def toString: String = toOption.toString
}

object MaybePartition {
  val None: MaybePartition = new MaybePartition(-1)

  def apply(partition: Int): MaybePartition = {
    require(partition >= 0, s"$partition is no partition")
    new MaybePartition(partition)
  }
}
