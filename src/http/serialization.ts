import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { type JsonSchema, mapSchema } from './validation/map-schema.ts';

type Serialize = (value: unknown) => string;

/** The serializers by schema; all apps of a process share them. */
const serializers = new WeakMap<TSchema, Serialize>();

/**
 * Fastify's serializer compiler. Compiles a serializer at its first use, because compiling takes a few milliseconds: to
 * compile those of all operations and errors, most of which are never used, would take two thirds of the startup time.
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
      oneOrManySerializer(schema) ?? (fastJson(mapSchema(schema as JsonSchema, toNullable)) as Serialize);
    serializers.set(schema, serialize);
  }
  return serialize;
}

// For a union, fast-json-stringify has Ajv validate the value against each alternative. The two kinds of unions in
// responses, one object or an array and an object or `null`, need no validation.

/** Returns a serializer for a union of an object and an array of objects; `undefined` for any other schema. */
function oneOrManySerializer({ anyOf }: { anyOf?: TSchema[] }): Serialize | undefined {
  const [single, list, rest] = anyOf ?? [];
  if (single === undefined || (list as JsonSchema | undefined)?.type !== 'array' || rest !== undefined)
    return;
  return (value) => serializerOf(Array.isArray(value) ? (list as TSchema) : single)(value);
}

/** Turns a union with `null` into `nullable`, which fast-json-stringify handles without a union. */
function toNullable(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [value, nullSchema, others] = (anyOf ?? []) as JsonSchema[];
  return nullSchema?.type === 'null' && others === undefined ? { ...rest, ...value, nullable: true } : schema;
}
