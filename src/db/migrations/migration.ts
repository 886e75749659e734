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
  tableOptions: string;
  /** Options of a table whose rows are stored in the index of its primary key. */
  clusteredOptions: string;
}

export interface Migration {
  name: string;
  statements(dialect: SchemaDialect): string[];
}
