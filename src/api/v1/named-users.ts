import { Type } from 'typebox';
import { storedText, unknownText } from '../../http/schemas.ts';

/** A user inside another object. */
export const NamedUserBody = Type.Object(
  {
    id: Type.Integer(),
    name: unknownText('Ada Lovelace'),
    email: storedText('ada@acme.example'),
  },
  { title: 'Named user' },
);

/** The same, where it may be nobody's account, or one that is gone. */
export const NamedUserOrNull = Type.Union([NamedUserBody, Type.Null()]);
