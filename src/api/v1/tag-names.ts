import { Type } from 'typebox';
import { nameSchema } from '../../http/schemas.ts';

export const RenameTagSchema = Type.Object({ name: nameSchema('needs-retest') }, { title: 'Tag rename' });
