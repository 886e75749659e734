import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { type JsonSchema, mapSchema } from './validation/map-schema.ts';

type Serialize = (value: unknown) => string;

/** By schema: apps of one process have the same ones. */
const serializers = new WeakMap<TSchema, Serialize>();

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
  let serialize = serializers.get(schema);
  if (serialize === undefined) {
    serialize =
      serializeOneOrMany(schema) ?? (fastJson(mapSchema(schema as JsonSchema, toNullable)) as Serialize);
    serializers.set(schema, serialize);
  }
  return serialize;
}

// Of a union fast-json-stringify has Ajv validate the value against each form until one fits, of a thousand assets too. The
// two kinds that answers have can be told apart by a look.

/** @returns what writes a thing or an array of such; `undefined` for any other schema */
function serializeOneOrMany({ anyOf }: { anyOf?: TSchema[] }): Serialize | undefined {
  const [one, many, more] = anyOf ?? [];
  if (one === undefined || (many as JsonSchema | undefined)?.type !== 'array' || more !== undefined) return;
  return (value) => serializerOf(Array.isArray(value) ? (many as TSchema) : one)(value);
}

/** @returns a thing or `null` as fast-json-stringify has it without a union; any other schema as it is */
function toNullable(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [thing, nothing, more] = (anyOf ?? []) as JsonSchema[];
  return nothing?.type === 'null' && more === undefined ? { ...rest, ...thing, nullable: true } : schema;
}
