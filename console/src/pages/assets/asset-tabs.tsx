import { TabLinks } from '../../components/tab-links.tsx';
import type { AssetSearch } from '../../queries/assets.ts';
import { assetMessages as messages } from './messages.ts';

/** The types that each tab shows. */
const TAB_TYPES = {
  all: undefined,
  hosts: ['host'],
  web: ['webapp'],
  other: ['network', 'cloudaccount', 'mobileapp'],
} as const;

/** Links to the assets of some types. */
export function AssetTabs({ search: { assetType = [] } }: { search: AssetSearch }) {
  const shown = assetType.toSorted().join();
  return (
    <TabLinks
      label={messages.shown}
      tabs={Object.entries(TAB_TYPES).map(([name, types]) => ({
        label: messages.tabs[name as keyof typeof TAB_TYPES],
        isCurrent: (types?.toSorted().join() ?? '') === shown,
        search: (previous) => ({ ...previous, assetType: types }),
      }))}
    />
  );
}
