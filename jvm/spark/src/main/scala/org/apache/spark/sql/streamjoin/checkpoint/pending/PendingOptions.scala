package org.apache.spark.sql.streamjoin.checkpoint.pending

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.streamjoin.model.Side

/**
 * Options of the data source of buffered rows.
 *
 * @param where folder of a checkpoint, or ID of a query
 * @param side the only input to read, as columns instead of JSON
 * @param operator the only join to read
 * @param batch the batch whose state is read; none for the last committed batch
 */
private[pending] final case class PendingOptions(
    where: Either[String, String],
    side: Option[Side],
    operator: Option[Long],
    batch: Option[Long]
)

private[pending] object PendingOptions {

  /** Name of the data source. */
  val Format: String = "streamjoin-pending"

  private val known = Seq("path", "query", "side", "operator", "batch")

  def of(options: CaseInsensitiveStringMap): PendingOptions = {
    def said(name: String): Option[String] = Option(options.get(name))
    def number(name: String): Option[Long] = said(name).map { text =>
      text.toLongOption.filter(_ >= 0).getOrElse(throw invalid(
        name,
        text,
        "a whole number of at least 0"
      ))
    }
    options.asScala.keys.find(!known.contains(_)).foreach { other =>
      throw invalid(other, options.get(other), s"one of ${known.mkString(", ")}")
    }
    PendingOptions(
      said("path").map(Left(_)).orElse(said("query").map(Right(_))).getOrElse(
        throw invalid("path", "", "the folder of a checkpoint, as in load(checkpoint)")
      ),
      said("side").map { text =>
        Side.both.find(_.name.equalsIgnoreCase(text)).getOrElse(
          throw invalid("side", text, "left or right")
        )
      },
      number("operator"),
      number("batch")
    )
  }

  private def invalid(option: String, value: String, expected: String) =
    StateErrors.state(
      "INVALID_OPTION",
      "format" -> Format,
      "option" -> option,
      "value" -> value,
      "expected" -> expected
    )
}
