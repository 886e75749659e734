import { lazyDemoData } from './data.ts';

/** Names of tags, and notes of testing sessions. */
export const labels = lazyDemoData('labels.json') as () => {
  editableTags: readonly string[];
  fixedTags: readonly string[];
  assessmentTags: readonly string[];
  assetTags: readonly string[];
  sessionNotes: readonly string[];
};
