package org.apache.spark.sql.streamjoin.evolve

import io.streamjoin.model.{JoinType, Side}

/**
 * What becomes of the stored rows of a side when the type of the join changes.
 *
 * {{{
 *   LEFT to INNER        all rows stay
 *   LEFT to LEFT SEMI    matched left rows leave: they have been emitted
 *   INNER to LEFT        refused: no flag says which left rows have matched
 *   LEFT SEMI to INNER   refused: matched left rows are not stored any more
 * }}}
 *
 * @param preserved whether a row that has not matched is emitted
 * @param dropsMatched whether a row that has matched leaves
 * @param unknown why the stored flags do not decide; a side without rows needs no flags
 */
private[evolve] final case class FlagRule(
    preserved: Boolean,
    dropsMatched: Boolean,
    unknown: Option[String]
)

private[evolve] object FlagRule {

  /** All rows stay, for an operator whose flags have another meaning. */
  val AllStay: FlagRule = FlagRule(preserved = false, dropsMatched = false, unknown = None)

  def of(before: JoinType, from: Side, now: JoinType, to: Side): FlagRule = {
    val removedMatched = before.leftOnly && from == Side.Left
    val removesMatched = now.leftOnly && to == Side.Left
    val unknown =
      if (removedMatched && !removesMatched)
        Some(s"${before.name} does not store rows that have matched")
      else if (now.notesMatches(to) && !before.notesMatches(from))
        Some(s"${before.name} does not store which of these rows have matched")
      else None
    FlagRule(now.preserves(to), removesMatched, unknown)
  }
}
