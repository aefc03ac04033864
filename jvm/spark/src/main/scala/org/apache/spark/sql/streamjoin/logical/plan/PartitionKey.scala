package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

/** The equality by whose values rows lie in the partitions of their topics. */
private[streamjoin] object PartitionKey {

  /** The types that a serializer of Kafka's own writes, for people. */
  val types: String = "STRING, BINARY, SMALLINT, INT or BIGINT"

  /** Those that could be the key of a record. NULL is no key, so it cannot be equal to another. */
  def candidates(keys: Seq[EquiKey]): Seq[EquiKey] =
    keys.filter(key => !key.nullSafe && isWritten(key.left.dataType))

  /** None where there is none, or no telling which of several it is. */
  def of(keys: Seq[EquiKey]): Option[EquiKey] = candidates(keys) match {
    case Seq(one) => Some(one)
    case _        => None
  }

  /** Values that are equal in a collation need not have the same bytes. */
  private def isWritten(dataType: DataType): Boolean = dataType match {
    case text: StringType                                => UnsafeRowUtils.isBinaryStable(text)
    case BinaryType | ShortType | IntegerType | LongType => true
    case _                                               => false
  }
}
