package org.apache.spark.sql.streamjoin.sql

import scala.collection.mutable

import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * Finds windows on relations, `t OVER (RANGE INTERVAL '10' MINUTE FOLLOWING)`, in a text. Rewrites
 * each to a call that Spark's grammar accepts:
 *
 * {{{
 *   STREAM_WINDOW(TABLE(SELECT * FROM t), INTERVAL '10' MINUTE, 'FOLLOWING')
 * }}}
 *
 * It also rewrites the row that is valid at the event time of the other input:
 *
 * {{{
 *   rates FOR SYSTEM_TIME AS OF o.order_time                      also without `o.`
 *   STREAM_WINDOW(TABLE(SELECT * FROM rates), o.order_time, 'SYSTEM_TIME')
 * }}}
 *
 * The relation may be a name, `STREAM t`, a function, or a query or joins in parentheses. A window
 * of a function, `rank() OVER (...)`, remains unchanged. It is part of an expression, while a
 * window on a relation follows FROM, JOIN or a comma of FROM.
 *
 * Sources: SQLstream s-Server, "Streaming Joins"; Flink SQL and SQL:2011, `FOR SYSTEM_TIME AS OF`.
 */
private[streamjoin] final class RelationWindows(text: SqlText) {
  import RelationWindows._
  import text._

  /** @return the edits. Throws the refusal of an invalid window. */
  def edits: Seq[Edit] = {
    val found = mutable.Buffer.empty[Edit]
    val scopes = mutable.Stack(new Scope(expression = false))
    for (i <- indices) {
      val scope = scopes.top
      kind(i) match {
        case "LEFT_PAREN" =>
          val relation = scope.relation.contains(i)
          val inner = new Scope(expression = FromInside(kind(i - 1)))
          if (relation) inner.begin(i + 1)
          scopes.push(inner)
        case "RIGHT_PAREN" => if (scopes.length > 1) scopes.pop()
        case "SELECT"      => scope.leave()
        case "FROM" if !scope.expression && kind(i - 1) != "DISTINCT" =>
          scope.begin(i + 1)
        case "JOIN" if scope.sawFrom                 => scope.begin(i + 1)
        case "COMMA" if scope.inFrom                 => scope.begin(i + 1)
        case "LATERAL" if scope.relation.contains(i) => scope.begin(i + 1)
        case "ON" | "USING"                          => scope.relation = None
        case kind if scope.inFrom && AfterFrom(kind) => scope.leave()
        case "OVER" if scope.relation.exists(_ < i) =>
          if (isWindow(i)) found ++= window(scope.relation.get, i)
          scope.relation = None
        case "FOR" if scope.relation.exists(_ < i) && isTimeOfRow(i) =>
          found ++= timeOfRow(scope.relation.get, i)
          scope.relation = None
        case _ =>
      }
    }
    found.toSeq
  }

  /**
   * Whether a window follows OVER, not the columns of an alias `OVER`. It has a keyword of a frame.
   */
  private def isWindow(over: Int): Boolean =
    kind(over + 1) == "LEFT_PAREN" && !Seq("RIGHT_PAREN", "COMMA").contains(kind(over + 3)) &&
      (over + 2 until closing(over + 1)).exists(i => FrameWords(kind(i)))

  /**
   * Whether `FOR SYSTEM_TIME AS OF` and a column follow. With a constant, it is Spark's own time
   * travel.
   */
  private def isTimeOfRow(at: Int): Boolean =
    SystemTime.indices.forall(n => kind(at + n) == SystemTime(n)) &&
      isWord(at + 4) && {
        val end = nameEnd(at + 4)
        if (end > at + 4) kind(end + 1) != "LEFT_PAREN"
        else !isConstant(at + 4) && !isCase(at + 4) && mayFollowName(end + 1)
      }

  /** Whether an expression `CASE ... END` begins. A column with this name may have an alias by AS. */
  private def isCase(i: Int): Boolean =
    kind(i) == "CASE" && kind(i + 1) != "AS" && (kind(i + 1).isEmpty || isWord(i + 1))

  private def isConstant(i: Int): Boolean =
    Constants(kind(i)) || kind(i).endsWith("_LITERAL") || kind(i).endsWith("_VALUE")

  /** Whether the word before this token is a whole expression, which an alias may follow. */
  private def mayFollowName(next: Int): Boolean =
    Set("", "COMMA", "RIGHT_PAREN", "SEMICOLON")(kind(next)) ||
      isWord(next) && !kind(next).endsWith("_LITERAL") && !Operators(kind(next))

  /** The index of the last word of a name with dots. */
  private def nameEnd(first: Int): Int =
    if (kind(first + 1) == "DOT") nameEnd(first + 2) else first

  private def timeOfRow(relation: Int, at: Int): Seq[Edit] =
    Seq(
      insertBefore(relation, Opening),
      replace(at, at + 4, "), "),
      insertBehind(nameEnd(at + 4), s", '$TimeOfRow')")
    )

  private def window(relation: Int, over: Int): Seq[Edit] = {
    val close = closing(over + 1)
    val frame = over + 2 until close
    val ofRows = kind(over + 2) == "ROWS"
    def refuse(reason: String) = {
      val last = close.min(indices.last)
      val window = between(over, last + 1)
      throw refused(over, last)(StreamJoinErrors.invalidWindow(_, window, reason, ofRows))
    }
    if (close >= tokens.length) refuse("its closing parenthesis is missing")
    kind(frame.head) match {
      case "RANGE" =>
      case "ROWS" =>
        if (kind(frame.last) != "PRECEDING" || kind(frame(1)) == "BETWEEN") {
          refuse("a number of rows selects the last rows: ROWS 1 PRECEDING")
        }
      case "PARTITION" | "DISTRIBUTE" | "ORDER" | "SORT" | "CLUSTER" =>
        refuse("it has PARTITION BY or ORDER BY, but the window is on event time")
      case _ => refuse("it does not start with RANGE")
    }
    val bounds =
      if (kind(frame(1)) != "BETWEEN") Seq(frame.tail)
      else {
        val and = frame.drop(3).find(i => kind(i) == "AND" && BoundEnds(kind(i - 1)))
        val at = and.getOrElse(refuse("BETWEEN has no second bound"))
        Seq(frame(2) until at, at + 1 until close)
      }
    val pieces = bounds.map(bound(_, bounds.length == 2, refuse)).map { p =>
      if (ofRows) p.copy(direction = LastRows) else p
    }
    insertBefore(relation, Opening) +:
      pieces.zip((tokens(over).start, "), ") +: pieces.map(p => (p.end, ", ")))
        .flatMap { case (p, (from, separator)) => p.edits(from, separator) }
  }

  /** A bound of a window. Refuses an invalid one. */
  private def bound(words: Range, second: Boolean, refuse: String => Nothing): Bound = {
    val direction = words.lastOption.map(kind).getOrElse("")
    if (words.map(kind) == Seq("CURRENT", "ROW")) {
      if (!second) refuse("CURRENT ROW alone defines no length")
      Bound(None, tokens(words.head).start, tokens(words.last).end, "FOLLOWING")
    } else if (words.headOption.exists(kind(_) == "UNBOUNDED")) {
      refuse("with UNBOUNDED the join would buffer rows for ever")
    } else if (direction != "PRECEDING" && direction != "FOLLOWING") {
      refuse("a bound must be an interval with PRECEDING or FOLLOWING")
    } else if (words.length == 1) refuse(s"$direction needs an interval before it")
    else {
      val value = (tokens(words.head).start, tokens(words(words.length - 2)).end)
      Bound(Some(value), tokens(words.head).start, tokens(words.last).end, direction)
    }
  }
}

private[streamjoin] object RelationWindows {

  /** The function that represents a window for Spark's parser and in the text of a view. */
  val Name = "STREAM_WINDOW"

  /** The direction of a window of the last rows. */
  val LastRows = "ROWS PRECEDING"

  /** Replaces the direction: the last row at the time of a row of the other input. */
  val TimeOfRow = "SYSTEM_TIME"

  /** Begins the function before a relation. */
  val Opening: String = s"$Name(TABLE(SELECT * FROM "

  private val SystemTime = IndexedSeq("FOR", "SYSTEM_TIME", "AS", "OF")

  /** Words that are values without parentheses. */
  private val Constants = Set(
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "LOCALTIMESTAMP",
    "CURRENT_USER",
    "SESSION_USER",
    "USER",
    "NULL",
    "TRUE",
    "FALSE",
    "DOUBLEQUOTED_STRING"
  )

  /** Words that continue an expression. */
  private val Operators =
    Set("DIV", "AT", "COLLATE", "IS", "AND", "OR", "DOUBLEQUOTED_STRING", "BETWEEN", "IN", "LIKE")

  private val FrameWords = Set("RANGE", "ROWS", "PRECEDING", "FOLLOWING", "UNBOUNDED")

  private val BoundEnds = Set("PRECEDING", "FOLLOWING", "ROW")

  /** Functions whose parentheses may contain a FROM without relations. */
  private val FromInside = Set("EXTRACT", "TRIM", "SUBSTR", "SUBSTRING", "OVERLAY")

  /** Keywords that end FROM. */
  val AfterFrom: Set[String] =
    SqlToken.Clauses ++ SqlToken.FurtherClauses ++ SqlToken.SetOperators ++
      Set("QUALIFY", "OPERATOR_PIPE", "SET", "SEMICOLON")

  private final case class Bound(
      value: Option[(Int, Int)],
      start: Int,
      end: Int,
      direction: String
  ) {

    /**
     * Replaces the characters from `from` up to the value, and from the value to the end of the
     * bound.
     */
    def edits(from: Int, separator: String): Seq[Edit] = value match {
      case Some((first, last)) =>
        Seq(Edit(from, first, separator), Edit(last, end, s", '$direction'"))
      case None => Seq(Edit(from, end, s"${separator}INTERVAL '0' SECOND, '$direction'"))
    }
  }

  /** State of the scan within one pair of parentheses. */
  private final class Scope(val expression: Boolean) {
    var inFrom = false
    var sawFrom = false

    /** The index at which the current relation starts. */
    var relation = Option.empty[Int]

    def begin(at: Int): Unit = {
      inFrom = true
      sawFrom = true
      relation = Some(at)
    }

    def leave(): Unit = {
      inFrom = false
      relation = None
    }
  }
}
