import { Type } from 'typebox';
import { nameText } from '../../http/schemas.ts';

export const RenameBody = Type.Object({ name: nameText('needs-retest') }, { title: 'Tag rename' });
