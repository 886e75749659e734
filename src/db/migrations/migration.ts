/** Column types and table options that differ by engine; everything else in a migration is the same SQL. */
export interface SchemaDialect {
  engine: 'sqlite' | 'postgres';
  /** An integer primary key that the engine assigns and never reuses. */
  id: string;
  int: string;
  real: string;
  /** Text that compares by code point. */
  text: string;
  bytes: string;
  /** What follows the closing parenthesis of a table. */
  table: string;
  /** The same for a table whose rows live in its primary key. */
  clustered: string;
}

export interface Migration {
  name: string;
  statements(dialect: SchemaDialect): string[];
}
