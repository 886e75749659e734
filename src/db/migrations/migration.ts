/** The column types and table options that differ by engine. */
export interface SchemaDialect {
  engine: 'sqlite' | 'postgres';
  /** An integer primary key that the engine assigns and never reuses. */
  id: string;
  int: string;
  real: string;
  /** Text that compares by code point. */
  text: string;
  bytes: string;
  /** Options after the closing parenthesis of a table. */
  table: string;
  /** The same for a table that is stored in its primary key's index. */
  clustered: string;
}

export interface Migration {
  name: string;
  statements(dialect: SchemaDialect): string[];
}
