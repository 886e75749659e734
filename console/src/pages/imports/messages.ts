import { pluralize, pluralizeVulnerabilities, pluralForm } from '../../components/pluralize.ts';

/** Strings of the list of imports, the upload and the page of one import. */
export const importMessages = {
  newImport: 'New import',
  dropReports: 'Drop scanner reports here',
  dropHint:
    'Nmap, ZAP, Burp Suite, Nessus, OpenVAS, Nuclei, SARIF, Trivy and ten more formats, also as gzip or zip. Preview before importing.',
  chooseFiles: 'Choose files',
  showDryRuns: 'Show dry runs',
  noImports: 'No imports yet',
  noImportsHint: 'Drop a scanner report above, or run: assay import FILE',
  dryRun: 'Dry run',
  commandLine: 'Command line',
  importName: (id: number) => `Import ${id}`,
  states: {
    queued: 'Waiting',
    running: 'Running',
    succeeded: 'Done',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },

  /** Options that apply to all dropped reports. */
  options: {
    assessment: 'Assessment',
    assessmentForAdmins: 'Required for findings. Hosts and ports alone need none.',
    assessmentForMembers: 'The assessment that the findings belong to.',
    chooseAssessment: 'Choose an assessment for these findings',
    organization: 'The organization of the hosts, if you choose no assessment.',
    whenGone: 'Findings missing from this report',
    whenGoneHint: 'Applies to what the report covers, in the same assessment.',
    markAsGone: 'Mark as gone',
    setToFixed: 'Set to Fixed',
    more: 'More options',
    targets: 'What was scanned, if the report does not say: addresses, host names or URLs.',
    tags: 'Added to new findings.',
    minimumSeverity: 'Minimum severity',
    minimumSeverityHint: 'Less severe findings are skipped.',
    scannedAt: 'Scanned at',
    scannedAtHint: 'If the report does not say.',
    carry: 'Carry over decisions',
    carryHint: 'Reuse decisions on the same findings in other assessments.',
  },

  /** One dropped report. */
  file: {
    format: (name: string) => `Format of ${name}`,
    detectFormat: 'Detect format',
    detected: (format: string) => `${format} (detected)`,
    remove: (name: string) => `Remove ${name}`,
    columnsHint:
      'Common column names are detected. Once you choose a column, only the columns you choose are imported.',
    noColumn: 'No column',
    uploadOf: (name: string) => `Upload of ${name}`,
    uploaded: (percent: number) => `${percent}% uploaded`,
    previewing: 'Preparing preview',
    starting: 'Starting import',
    rejected: 'Could not import this report',
    invalidFile: (problem: string) => `The file ${problem}.`,
    assessmentFirst: 'Choose an assessment to preview this report.',
    preview: 'Preview. Nothing has been imported yet.',
    noCoverage:
      'Nothing is missing from what the report covers. Some tools, such as Nuclei, do not report their coverage: enter the targets under More options.',
    showDetails: 'Show details',
    hideDetails: 'Hide details',
    importAll: (count: number) => `Import all ${count}`,
    removeAll: 'Remove all',
  },

  /** The progress and the result of one import. */
  result: {
    progressOf: (name: string) => `Progress of ${name}`,
    waiting: 'Not started yet',
    processed: (percent: number) => `${percent}% processed`,
    secondsLeft: (seconds: number) => `${seconds} s left`,
    dryRunSummary: 'Preview',
    summary: 'Summary',
    created: 'new',
    seenAgain: 'seen again',
    reopened: 'reopened',
    gone: 'gone',
    goneFixed: 'gone, set to Fixed',
    assetsCreated: (count: number) => `${pluralForm(count, 'asset')} added`,
    assetsUpdated: (count: number) => `${pluralForm(count, 'asset')} updated`,
    portsOpened: (count: number) => `${pluralForm(count, 'port')} opened`,
    portsClosed: (count: number) => `${pluralForm(count, 'port')} closed`,
    skipped: (count: number) => `${pluralForm(count, 'record')} skipped`,
    previewKinds: { new: 'New', reopened: 'Reopened', gone: 'Gone', again: 'Seen again' },
    firstOf: (kind: string, count: number) => `${kind} (first ${count})`,
    at: 'at',
    invalidReport: 'Invalid report',
    atLine: (what: string, line: number) => `${what}, first at line ${line.toLocaleString()}`,
    atByte: (what: string, offset: number) => `${what}, first at byte ${offset.toLocaleString()}`,
  },

  /** The page of one import. */
  page: {
    notFound: 'Import not found',
    notFoundHint: 'It does not exist, or you have no access to it.',
    undo: 'Undo import',
    dryRun: 'Dry run: nothing was imported',
    undone: (result: string, keptCount: number) =>
      `${result}. ${keptCount.toLocaleString()} changed since and left as they are.`,
    startedBy: 'Started by',
    missingFindings: 'Missing findings',
    markedAsGone: 'Marked as gone',
    setToFixed: 'Set to Fixed',
    minimumSeverity: 'Minimum severity',
    scannedAt: 'Scanned at',
    carriedOver: 'Carried over',
    byCommandLine: 'Command line',
    undoWarning: (findings: number, assets: number) =>
      `This deletes up to ${pluralizeVulnerabilities(findings)} and ${pluralize(assets, 'asset')} that only this import created, restores the statuses it set, and unmarks the findings it marked as gone. Anything that a person or another import has changed since stays, and so do ports. You cannot redo the import, but you can import the report again.`,
  },
} as const;
