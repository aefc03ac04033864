package org.apache.spark.sql.streamjoin

import java.util.Locale

import org.apache.spark.unsafe.types.UTF8String

/** Suggestion for a misspelt word. */
private[streamjoin] object NearestWord {

  /** The most similar word, if at most a third of its letters differ, or one contains the other. */
  def of(written: String, words: Seq[String]): Option[String] = {
    def distance(word: String) = folded(written).levenshteinDistance(folded(word))
    words.minByOption(distance).filter { word =>
      val (a, b) = (folded(written), folded(word))
      distance(word) <= math.max(1, math.max(a.numChars, b.numChars) / 3) ||
      math.min(a.numChars, b.numChars) > 2 && (a.contains(b) || b.contains(a))
    }
  }

  private def folded(word: String): UTF8String =
    UTF8String.fromString(word.toLowerCase(Locale.ROOT))
}
