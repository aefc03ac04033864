package io.streamjoin.benchmarks

/** Writes what results consist of: no library is the same on every engine's class path. */
object Json {

  def of(fields: Seq[(String, Any)]): String =
    fields.map { case (name, value) => s"${quoted(name)}: ${any(value)}" }.mkString("{", ", ", "}")

  private def any(value: Any): String = value match {
    case None           => "null"
    case Some(present)  => any(present)
    case text: String   => quoted(text)
    case number: Double => if (number.isNaN) "null" else f"$number%.3f"
    case items: Seq[_] =>
      items match {
        case fields @ ((_: String, _) +: _) => of(fields.asInstanceOf[Seq[(String, Any)]])
        case other                          => other.map(any).mkString("[", ", ", "]")
      }
    case other => other.toString
  }

  private def quoted(text: String): String =
    text.flatMap {
      case '"'          => "\\\""
      case '\\'         => "\\\\"
      case '\n'         => "\\n"
      case c if c < ' ' => f"\\u${c.toInt}%04x"
      case c            => c.toString
    }.mkString("\"", "", "\"")
}
