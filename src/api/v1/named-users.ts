import { Type } from 'typebox';
import { textSchema, nullableTextSchema } from '../../http/schemas.ts';

/** A user inside another object. */
export const UserRefSchema = Type.Object(
  {
    id: Type.Integer(),
    name: nullableTextSchema('Ada Lovelace'),
    email: textSchema('ada@acme.example'),
  },
  { title: 'Named user' },
);

/** The same, where it may be nobody's account, or one that is gone. */
export const NullableUserRefSchema = Type.Union([UserRefSchema, Type.Null()]);
