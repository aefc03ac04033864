package io.streamjoin.benchmarks

/** Parameters of a run, on top of the defaults of its workload; times in milliseconds. */
final class Parameters(val values: Map[String, String]) extends Serializable {

  def or(defaults: (String, Any)*): Parameters =
    new Parameters(defaults.map { case (k, v) => k -> v.toString }.toMap ++ values)

  def but(changes: (String, Any)*): Parameters =
    new Parameters(values ++ changes.map { case (k, v) => k -> v.toString })

  def text(name: String): String =
    values.getOrElse(name, throw new IllegalArgumentException(s"no parameter $name"))

  def number(name: String): Long = text(name).toLong
}

object Parameters {

  /** From `name=value` arguments. */
  def parse(arguments: Seq[String]): Parameters =
    new Parameters(arguments.map { argument =>
      argument.split("=", 2) match {
        case Array(name, value) => name -> value
        case _                  => throw new IllegalArgumentException(s"not name=value: $argument")
      }
    }.toMap)
}
