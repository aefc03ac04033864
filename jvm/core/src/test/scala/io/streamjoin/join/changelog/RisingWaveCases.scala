package io.streamjoin.join.changelog

import io.streamjoin.model.JoinType
import io.streamjoin.model.JoinType._

/**
 * A case of RisingWave's tests of its hash join, rewritten.
 *
 * {{{
 *   L + 2 5              a change of the left: the join key, `.` for NULL, and the row
 *   R - 6 11             one of the right
 *   =                    the end of a chunk, which emits
 *     + 2 5 | 2 7        an insert, or with - a delete; . for no row
 * }}}
 *
 * @param condition the condition of a pair beside the equality
 * @param appends whether the inputs are insert-only
 */
private[changelog] final case class RisingWaveCase(
    name: String,
    joinType: JoinType,
    text: String,
    condition: Option[(Row, Row) => Boolean] = None,
    nullSafe: Boolean = false,
    appends: Boolean = false
)

/**
 * The cases of `hash_join.rs`. Rows that it hides in a chunk, since they are inserted and deleted
 * there, are not emitted. Its right semi and anti joins are left ones here. All cases are also
 * mirrored.
 */
private[changelog] object RisingWaveCases {

  private val less: Option[(Row, Row) => Boolean] = Some((l, r) => l.value < r.value)

  private val semi =
    """L + 1 4
      |L + 2 5
      |L + 3 6
      |=
      |L + 3 8
      |L - 3 8
      |=
      |R + 2 7
      |R + 4 8
      |R + 6 9
      |=
      |  + 2 5 | .
      |R + 3 10
      |R + 6 11
      |=
      |  + 3 6 | .
      |L + 6 10
      |=
      |  + 6 10 | .
      |R - 6 11
      |=
      |R - 6 9
      |=
      |  - 6 10 | ."""

  private val inner =
    """L + 1 4
      |L + 2 5
      |L + 3 6
      |=
      |L + 3 8
      |L - 3 8
      |=
      |R + 2 7
      |R + 4 8
      |R + 6 9
      |=
      |  + 2 5 | 2 7
      |R + 3 10
      |R + 6 11
      |=
      |  + 3 6 | 3 10"""

  private val left =
    """L + 1 4
      |L + 2 5
      |L + 3 6
      |=
      |  + 1 4 | .
      |  + 2 5 | .
      |  + 3 6 | .
      |L + 3 8
      |L - 3 8
      |=
      |R + 2 7
      |R + 4 8
      |R + 6 9
      |=
      |  - 2 5 | .
      |  + 2 5 | 2 7
      |R + 3 10
      |R + 6 11
      |=
      |  - 3 6 | .
      |  + 3 6 | 3 10"""

  /** The same with NULL for the key 3, which is equal to itself. */
  private def ofNull(text: String): String =
    text.replaceAll("([+-]) 3 ", "$1 . ").replace("| 3 ", "| . ")

  private def appended(text: String): String =
    """L + 1 41
      |L + 2 52
      |L + 3 63
      |=
      |%s
      |L + 4 94
      |L + 5 105
      |=
      |%s
      |R + 2 51
      |R + 4 92
      |R + 6 93
      |=
      |%s
      |R + 1 44
      |R + 3 65
      |R + 7 76
      |=
      |%s""".format(text.stripMargin.split("\n=\n", -1).toSeq: _*)

  private val appendedPairs =
    """
      |=
      |
      |=
      |  + 2 52 | 2 51
      |  + 4 94 | 4 92
      |=
      |  + 1 41 | 1 44
      |  + 3 63 | 3 65"""

  val all: Seq[RisingWaveCase] = Seq(
    RisingWaveCase("inner_join", Inner, inner),
    RisingWaveCase("null_safe_hash_inner_join", Inner, ofNull(inner), nullSafe = true),
    RisingWaveCase("left_semi_join, right_semi_join", LeftSemi, semi),
    RisingWaveCase("null_safe_hash_left_semi_join", LeftSemi, ofNull(semi), nullSafe = true),
    RisingWaveCase("left_join", LeftOuter, left),
    RisingWaveCase("null_safe_hash_left_join", LeftOuter, ofNull(left), nullSafe = true),
    RisingWaveCase("inner_join_append_only", Inner, appended(appendedPairs), appends = true),
    RisingWaveCase(
      "left_semi_join_append_only, right_semi_join_append_only",
      LeftSemi,
      appended(appendedPairs.replaceAll("\\| \\d+ \\d+", "| .")),
      appends = true
    ),
    RisingWaveCase(
      "left_join_append_only",
      LeftOuter,
      appended("""  + 1 41 | .
        |  + 2 52 | .
        |  + 3 63 | .
        |=
        |  + 4 94 | .
        |  + 5 105 | .
        |=
        |  - 2 52 | .
        |  + 2 52 | 2 51
        |  - 4 94 | .
        |  + 4 94 | 4 92
        |=
        |  - 1 41 | .
        |  + 1 41 | 1 44
        |  - 3 63 | .
        |  + 3 63 | 3 65"""),
      appends = true
    ),
    RisingWaveCase(
      "right_join_append_only",
      RightOuter,
      appended("""
        |=
        |
        |=
        |  + 2 52 | 2 51
        |  + 4 94 | 4 92
        |  + . | 6 93
        |=
        |  + 1 41 | 1 44
        |  + 3 63 | 3 65
        |  + . | 7 76"""),
      appends = true
    ),
    RisingWaveCase(
      "left_anti_join, right_anti_join",
      LeftAnti,
      """L + 1 4
        |L + 2 5
        |L + 3 6
        |=
        |  + 1 4 | .
        |  + 2 5 | .
        |  + 3 6 | .
        |L + 3 8
        |L - 3 8
        |=
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |  - 2 5 | .
        |R + 3 10
        |R + 6 11
        |R + 1 2
        |R + 1 3
        |=
        |  - 3 6 | .
        |  - 1 4 | .
        |L + 9 10
        |=
        |  + 9 10 | .
        |R - 1 2
        |=
        |R - 1 3
        |=
        |  + 1 4 | ."""
    ),
    RisingWaveCase(
      "inner_join_with_barrier",
      Inner,
      """L + 1 4
        |L + 2 5
        |L + 3 6
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |  + 2 5 | 2 7
        |L + 6 8
        |L + 3 8
        |=
        |  + 6 8 | 6 9
        |R + 3 10
        |R + 6 11
        |=
        |  + 3 6 | 3 10
        |  + 3 8 | 3 10
        |  + 6 8 | 6 11"""
    ),
    RisingWaveCase(
      "inner_join_with_null_and_barrier",
      Inner,
      """L + 1 4
        |L + 2 .
        |L + 3 .
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |  + 2 . | 2 7
        |L + 6 .
        |L + 3 8
        |=
        |  + 6 . | 6 9
        |R + 3 10
        |R + 6 11
        |=
        |  + 3 8 | 3 10
        |  + 3 . | 3 10
        |  + 6 . | 6 11"""
    ),
    RisingWaveCase(
      "right_join",
      RightOuter,
      """L + 1 4
        |L + 2 5
        |L + 3 6
        |=
        |L + 3 8
        |L - 3 8
        |=
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |  + 2 5 | 2 7
        |  + . | 4 8
        |  + . | 6 9
        |R + 5 10
        |R - 5 10
        |="""
    ),
    RisingWaveCase(
      "full_outer_join",
      FullOuter,
      """L + 1 4
        |L + 2 5
        |L + 3 6
        |=
        |  + 1 4 | .
        |  + 2 5 | .
        |  + 3 6 | .
        |L + 3 8
        |L - 3 8
        |=
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |  - 2 5 | .
        |  + 2 5 | 2 7
        |  + . | 4 8
        |  + . | 6 9
        |R + 5 10
        |R - 5 10
        |="""
    ),
    RisingWaveCase(
      "full_outer_join_update",
      FullOuter,
      """L + 1 1
        |=
        |  + 1 1 | .
        |R + 1 1
        |=
        |  - 1 1 | .
        |  + 1 1 | 1 1
        |L - 1 1
        |L + 1 2
        |=
        |  - 1 1 | 1 1
        |  + 1 2 | 1 1"""
    ),
    RisingWaveCase(
      "full_outer_join_with_nonequi_condition",
      FullOuter,
      """L + 1 4
        |L + 2 5
        |L + 3 6
        |L + 3 7
        |=
        |  + 1 4 | .
        |  + 2 5 | .
        |  + 3 6 | .
        |  + 3 7 | .
        |L + 3 8
        |L - 3 8
        |L - 1 4
        |=
        |  - 1 4 | .
        |R + 2 6
        |R + 4 8
        |R + 3 4
        |=
        |  - 2 5 | .
        |  + 2 5 | 2 6
        |  + . | 4 8
        |  + . | 3 4
        |R + 5 10
        |R - 5 10
        |R + 1 2
        |=
        |  + . | 1 2""",
      condition = less
    ),
    RisingWaveCase(
      "inner_join_with_nonequi_condition",
      Inner,
      """L + 1 4
        |L + 2 10
        |L + 3 6
        |=
        |L + 3 8
        |L - 3 8
        |=
        |R + 2 7
        |R + 4 8
        |R + 6 9
        |=
        |R + 3 10
        |R + 6 11
        |=
        |  + 3 6 | 3 10""",
      condition = less
    )
  )
}
