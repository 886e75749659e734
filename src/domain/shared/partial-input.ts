/**
 * The members of an input that passed a schema: each member may be absent, at any depth, and arrays have only the items
 * that passed. Rules ignore absent members: the schema reports those that are required.
 */
export type PartialInput<T> = T extends readonly (infer Item)[]
  ? readonly PartialInput<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: PartialInput<T[Name]> | undefined }
    : T;
