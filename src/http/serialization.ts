import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';

type Serialize = (value: unknown) => string;

/** By schema: apps of one process have the same ones. */
const made = new WeakMap<TSchema, Serialize>();

/**
 * Fastify's serializer compiler. A serializer is made at its first use, in a few milliseconds: those of all operations and
 * of their errors, which are sent without, would be two thirds of a start.
 */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let serialize: Serialize | undefined;
  return (value) => {
    serialize ??= serializerOf(schema);
    return serialize(value);
  };
};

function serializerOf(schema: TSchema): Serialize {
  let serialize = made.get(schema);
  if (serialize === undefined) {
    serialize = fastJson(schema) as Serialize;
    made.set(schema, serialize);
  }
  return serialize;
}
