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

/** Null for actions without a user, and for deleted users. */
export const NullableUserRefSchema = Type.Union([UserRefSchema, Type.Null()]);
