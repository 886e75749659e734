import { pluralForm, pluralize } from '../../components/pluralize.ts';

/** Texts of the asset list and the page of an asset. */
export const assetMessages = {
  listTitle: 'Assets',
  searchLabel: 'Search names and addresses',
  shown: 'Shown assets',
  tabs: { all: 'All', hosts: 'Hosts', web: 'Web', other: 'Other' },
  emptyTitle: 'No assets yet',
  emptyHintReadOnly: 'Assets in the scope of the assessments that you have access to appear here.',
  emptyHint: 'Paste a list of hosts and URLs, or import a scanner report, which adds the assets it contains.',
  shortcuts: {
    select: 'Select',
    criticality: 'Set criticality',
    tags: 'Edit tags',
    listing: 'Edit scope',
    edit: 'Edit',
    add: 'Add assets',
    clear: 'Clear selection',
  },
  columns: { scopeOf: 'Scope of', openPorts: 'Open ports', lastSeen: 'Last seen' },
  filters: {
    listingHint: 'Name of the assessment',
    openPort: 'Open port',
    port: (port: number) => `Port ${port}`,
    ipRange: 'IP range',
    ipRangeHint: 'Address or block, such as 192.0.2.0/24',
  },

  pageTabs: { vulnerabilities: 'Findings', ports: 'Ports' },
  scopes: 'Scopes',
  changeCriticality: 'Change criticality',
  firstSeen: 'First seen',
  lastSeen: 'Last seen',
  neverSeen: 'Never',
  editTags: 'Edit tags',

  noListings: (description: string) =>
    `It is not in the scope of an assessment that you have access to. ${description}`,
  editRulesOf: (listing: string) => `Edit rules of ${listing}`,
  removeFrom: (listing: string) => `Remove from ${listing}`,
  rulesOf: (listing: string) => `Scope rules of ${listing}`,
  addToListing: 'Add to a scope',
  removeFromListing: 'Remove from scope',
  removeFromListingHint: (location: string, listing: string) =>
    `${location} will be removed from the scope of ${listing}, with its rules there. Its findings are not deleted.`,
  scopeRules: 'Scope rules',
  onePerLine: 'One per line',
  ruleTooLong: 'A rule can have at most 2,048 characters.',

  portView: 'Ports shown',
  openPorts: (count: number) => `Open (${count.toLocaleString()})`,
  noOpenPorts: 'No open ports yet. Import a port scan.',
  noClosedPorts: 'No closed ports.',
  noPortHistory: 'No port history yet.',
  portHistory: 'Port history',
  importLink: (id: number) => `import ${id}`,
  showMore: 'Show more',

  noVulnerabilities: 'No findings yet.',
  showAll: (open: number, total: number) =>
    `${open.toLocaleString()} open, ${total.toLocaleString()} in total: show in list`,

  deleteTitle: 'Delete asset',
  deleteHint: (ports: number, vulnerabilities: number) =>
    `{asset} will be deleted with its ${pluralize(ports, 'open port')}, their history, its scope rules and its tags. ` +
    `Its ${pluralize(vulnerabilities, 'open finding')} will stay, without it. ` +
    'This cannot be undone.',
  deleteFailed: (error: string) => `Could not delete the asset: ${error}`,
} as const;

/** Describes a change of a port: "opened: ssh OpenSSH 9.6". */
export function portEventText(kind: string, before: string, after: string): string {
  const serviceOrUnknown = (service: string) => (service === '' ? 'unknown service' : service);
  if (kind === 'changed') return `changed from ${serviceOrUnknown(before)} to ${serviceOrUnknown(after)}`;
  const service = kind === 'opened' ? after : before;
  return service === '' ? kind : `${kind}: ${service}`;
}

/** Texts of the dialogs that add and edit assets. */
export const assetDialogMessages = {
  addTitle: 'Add assets',
  organizationHint: 'Or choose an assessment, which belongs to one.',
  listingHint: 'The assessment that tests them.',
  listingHintOptional: 'The assessment that tests them (optional).',
  pasteLabel: 'Hosts and URLs',
  pasteHint:
    'One per line, or ranges such as 192.0.2.1-20 and 192.0.2.0/24. A name may follow after a comma.',
  chooseListing: 'Choose an assessment to see which assets are new.',
  lookingUp: 'Looking up existing assets',
  addFailed: 'Could not add the assets',
  addedBeforeError: (count: number) =>
    `${pluralize(count, 'asset')} ${count === 1 ? 'was' : 'were'} added before the error.`,
  submit: (created: number, listed: number) => {
    if (created === 0 && listed > 0) return `Add ${listed.toLocaleString()} to the scope`;
    return created === 0 ? 'Add' : `Add ${created.toLocaleString()}`;
  },
  new: '{count} new',
  known: '{count} known',
  knownAndListed: (count: number) =>
    `{count} known, ${count.toLocaleString()} added to the scope of {listing}`,
  duplicates: (count: number) => `{count} ${pluralForm(count, 'duplicate')}`,
  skipped: '{count} invalid, skipped',
  invalidLines: 'Invalid lines',
  invalidLine: (line: number) => `Line ${line}: {text} {error}`,
  moreLines: (count: number) => `and ${count.toLocaleString()} more`,

  editTitle: 'Edit asset',
  hostLocation: 'IP address or hostname',
  markdown: 'Markdown is supported.',
  conflict: 'Someone else changed this asset',

  titles: {
    criticality: 'Set criticality',
    tags: 'Edit tags',
    listing: 'Edit scope',
  },
  action: 'Action',
  scopeRulesHint: 'One per line. If empty, existing rules are kept.',
  addToListing: 'Add to scope',
  removeFromListing: 'Remove from scope',
} as const;

/** Why a pasted line is invalid, to follow the line: "10.0.0.0/8 has more than…". */
export const pastedLineErrors = {
  range: {
    invalid: 'is not a valid range of addresses',
    reversed: 'ends before it begins',
    'too-many': 'has more than 1,024 addresses; enter smaller ranges',
    tooManyInAll: 'exceeds the 16,384 addresses that all ranges may have; add it afterwards',
  },
  port: 'has a port; enter a URL for a web application, or only the host',
  path: 'has a path; start URLs with https:// or http://',
  host: 'is neither an IP address nor a hostname',
  url: 'is not a valid URL',
  scheme: 'must start with https:// or http://',
  credentials: 'must not contain a user name or a password',
  length: 'must have at most 2,048 characters',
} as const;
