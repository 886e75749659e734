import type { TagKind } from '../../queries/tags.ts';
import { pluralize } from '../../components/pluralize.ts';

type ByKind = Readonly<Record<TagKind, string>>;

const SINGULAR: ByKind = { vulnerability: 'finding', assessment: 'assessment', asset: 'asset' };
const PLURAL: ByKind = { vulnerability: 'findings', assessment: 'assessments', asset: 'assets' };

const pluralizeTagged = (kind: TagKind, count: number) => pluralize(count, SINGULAR[kind]);

/** Strings of the tags page. */
export const tagMessages = {
  kinds: { vulnerability: 'Vulnerabilities', assessment: 'Assessments', asset: 'Assets' } satisfies ByKind,
  kind: 'Kind of tag',
  listOf: (kind: TagKind) => `Tags of ${PLURAL[kind]}`,
  search: 'Search tags',
  showAll: 'Show all tags',
  actions: 'Actions',
  usedOn: 'Used on',
  unused: 'Nothing',
  tagged: pluralizeTagged,
  builtIn: 'Built in',
  builtInHint: 'Built-in tags cannot be renamed or deleted.',
  readOnly: {
    vulnerability: 'Your roles do not permit to create, rename and delete tags of findings.',
    assessment: 'Only admins can create, rename and delete tags of assessments.',
    asset: 'You do not have permission to create, rename and delete tags of assets.',
  } satisfies Record<TagKind, string>,
  noTags: 'No tags yet',
  noTagsHint: {
    vulnerability: 'Use tags to group findings across assessments, for example by team, cause or customer.',
    assessment: 'Use tags to group assessments, for example by quarter, contract or client.',
    asset: 'Use tags to group assets, for example those that face the internet or handle payment data.',
  } satisfies ByKind,

  newTag: 'New tag',
  newTagFor: (kind: TagKind) => `New tag for ${PLURAL[kind]}`,
  create: 'Create tag',
  created: (name: string) => `Tag "${name}" created`,
  firstAssessment: 'First assessment',
  firstAssessmentHint: 'You can tag more assessments later.',

  more: (name: string) => `More actions for ${name}`,
  showConflict: 'Show that tag',
  rename: (name: string) => `Rename ${name}`,
  renameTitle: 'Rename tag',
  renameHint: (kind: TagKind) => `Renames the tag on all ${PLURAL[kind]} that have it.`,
  renamed: (oldName: string, newName: string) => `Tag "${oldName}" renamed to "${newName}"`,
  renameUndone: (name: string) => `Tag renamed back to "${name}"`,

  removeTitle: 'Delete tag',
  removeQuestion: (name: string) => `Delete "${name}"?`,
  removeUnused: (kind: TagKind) => `None of the ${PLURAL[kind]} you have access to has this tag. Others may.`,
  removeWarning: (kind: TagKind, count: number) =>
    `It is removed from ${pluralizeTagged(kind, count)}. You cannot undo this.`,
  removed: (name: string) => `Tag "${name}" deleted`,
} as const;
