package io.streamjoin.join.changelog

/** A change of the output. */
final case class Changed[O](kind: ChangeKind, row: O)

/** Kinds of output changes, with the names of change feeds in Spark. */
sealed abstract class ChangeKind(val name: String, val added: Boolean) extends Serializable

object ChangeKind {
  case object Insert extends ChangeKind("insert", added = true)
  case object Preimage extends ChangeKind("update_preimage", added = false)
  case object Postimage extends ChangeKind("update_postimage", added = true)
  case object Delete extends ChangeKind("delete", added = false)

  val all: Seq[ChangeKind] = Seq(Insert, Preimage, Postimage, Delete)
}
