import { pluralize, pluralizeFindings, pluralForm } from '../../components/pluralize.ts';

/** Strings of the list of imports, the upload and the page of one import. */
export const importMessages = {
  newImport: 'New import',
  reports: 'Reports',
  running: 'Running imports',
  dropReports: 'Drop scanner reports here',
  dropHint:
    'Nmap, ZAP, Burp Suite, Nessus, OpenVAS, Nuclei, SARIF, Trivy and ten more formats, also as gzip or zip. Preview before importing.',
  chooseFiles: 'Choose files',
  showDryRuns: 'Show dry runs',
  noImports: 'No imports yet',
  noImportsHint: 'Drop a scanner report above, or run: assay import FILE',
  noImportsHintReadOnly: 'Imports into the assessments that you have access to appear here.',
  dryRun: 'Dry run',
  commandLine: 'Command line',
  importName: (id: number) => `Import ${id}`,
  states: {
    queued: 'Waiting',
    running: 'Running',
    succeeded: 'Imported',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  undone: 'Undone',

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
    markAsGoneHint: 'You decide about each of them.',
    setToFixed: 'Set to Fixed',
    setToFixedHint: 'Takes a complete report.',
    asDrafts: 'Import as drafts',
    more: 'More options',
    targets: 'What was scanned, if the report does not say: addresses, host names or URLs.',
    tags: 'Added to new findings.',
    minimumSeverity: 'Minimum severity',
    minimumSeverityHint: 'Less severe findings are skipped.',
    scannedAt: 'Scanned at',
    scannedAtHint: 'If the report does not say.',
    dateOrder: 'Dates such as 3/4/2024',
    dateOrderHint: 'In CSV, if no other date of the column shows it.',
    dateOrderUnknown: 'Not known',
    dayFirst: 'Day first: 3 April',
    monthFirst: 'Month first: March 4',
    listAssets: 'Add the assets of the report to the scope',
    listAssetsHint: 'Otherwise, findings on assets outside the scope are marked.',
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
    noCoverage:
      'All findings in scope are still detected. Some tools, such as Nuclei, do not report what they scanned: enter the targets under More options.',
    outsideScope: (count: number) =>
      `${pluralize(count, 'asset')} of this report ${count === 1 ? 'is' : 'are'} outside the scope. Findings on ${count === 1 ? 'it' : 'them'} are imported and marked.`,
  },

  /** The progress and the result of one import. */
  result: {
    progressOf: (name: string) => `Progress of ${name}`,
    waiting: 'Not started yet',
    processed: (percent: number) => `${percent}% processed`,
    secondsLeft: (seconds: number) => `${seconds} s left`,
    changes: 'Changes',
    kinds: { new: 'new', reopened: 'reopened', gone: 'gone', again: 'seen again', skipped: 'skipped' },
    nothing: 'None.',
    firstOf: (count: number, all: number) =>
      `The first ${count.toLocaleString()} of ${all.toLocaleString()}.`,
    noList: (count: number) => `${pluralize(count, 'finding')}, which Assay does not list.`,
    showInList: (count: number) => `Show ${pluralize(count, 'finding')} in the list`,
    assetsCreated: (count: number) => `${pluralForm(count, 'asset')} added`,
    assetsUpdated: (count: number) => `${pluralForm(count, 'asset')} updated`,
    portsOpened: (count: number) => `${pluralForm(count, 'port')} opened`,
    portsClosed: (count: number) => `${pluralForm(count, 'port')} closed`,
    incomplete: 'Skipped or incomplete',
    invalidReport: 'Invalid report',
    atLine: (reason: string, line: number) => `${reason}, first at line ${line.toLocaleString()}`,
    atByte: (reason: string, offset: number) => `${reason}, first at byte ${offset.toLocaleString()}`,
  },

  /** What an import changed, in the list. */
  outcome: {
    created: (count: number) => `+${count.toLocaleString()}`,
    back: (count: number) => `${count.toLocaleString()} back`,
    gone: (count: number) => `${count.toLocaleString()} gone`,
    noChange: 'Nothing changed',
    noChangeAhead: 'Nothing would change',
    failedAtLine: (line: number, message: string) => `Line ${line.toLocaleString()}: ${message}`,
  },

  /** What a report changes, in a sentence. */
  sentence: {
    preview: (gone: number, whenGone: 'keep' | 'fix') =>
      gone === 0
        ? '{assessment} goes from {before} to {after} open findings.'
        : `{assessment} goes from {before} to {after} open findings, and ${gone.toLocaleString()} ${gone === 1 ? 'is' : 'are'} ${whenGone === 'fix' ? 'set to Fixed' : 'marked as gone'}.`,
    same: '{assessment} stays at {before} open findings.',
    notYet: 'This is a preview. Nothing has changed yet.',
    added: (count: number) => (count === 0 ? 'No new finding' : pluralize(count, 'new finding')),
    result: (back: number, gone: number) =>
      ['{added} in {assessment}']
        .concat(back > 0 ? [`${back.toLocaleString()} came back`] : [])
        .concat(gone > 0 ? [`${gone.toLocaleString()} ${gone === 1 ? 'is' : 'are'} gone`] : [])
        .join(', ') + '.',
    hosts: (changes: string) => (changes === '' ? 'Nothing of the hosts and ports changes.' : `${changes}.`),
    also: (changes: string) => `Also: ${changes}.`,
    importedBy: 'Imported by {name}, {at}.',
  },

  /** The bar of the preview. */
  bar: {
    title: 'Import a report',
    addFiles: 'Add files',
    files: 'Files',
    assessmentMissing: 'Choose an assessment',
    changes: (count: number) =>
      count === 0
        ? 'No finding changes.'
        : `${pluralize(count, 'finding changes', 'findings change')}. You can undo this import.`,
    import: (count: number, assessment: string | undefined) =>
      [
        'Import',
        ...(count > 1 ? [pluralize(count, 'report')] : []),
        ...(assessment === undefined ? [] : [`into ${assessment}`]),
      ].join(' '),
  },

  /** What an import leaves to do. */
  leftToDo: {
    title: 'What is left to do',
    review: {
      title: (count: number) => `Review ${pluralize(count, 'new finding')}`,
      hint: 'Confirm or dismiss them.',
      button: 'Review',
    },
    decide: {
      title: (count: number) => `Decide about ${count.toLocaleString()} gone`,
      hint: 'Fixed, or missed by the scanner?',
      button: 'Decide',
    },
    look: {
      title: (count: number) => `Look at ${count.toLocaleString()} that came back`,
      hint: 'Fixed before, seen again by this import.',
      button: 'Open',
    },
  },

  /** The page of one import. */
  page: {
    undo: 'Undo import',
    dryRun: 'Dry run: nothing was imported',
    undone: (result: string, keptCount: number) =>
      `{at}: ${result}. ${keptCount.toLocaleString()} kept: another import has them, someone changed them, or you cannot delete them.`,
    startedBy: 'Started by',
    missingFindings: 'Missing findings',
    markedAsGone: 'Marked as gone',
    setToFixed: 'Set to Fixed',
    minimumSeverity: 'Minimum severity',
    scannedAt: 'Scanned at',
    dateOrder: 'Dates such as 3/4/2024',
    dayFirst: 'Day first',
    monthFirst: 'Month first',
    carriedOver: 'Carried over',
    byCommandLine: 'Command line',
    undoWarning: (findings: number, assets: number) =>
      `This deletes up to ${pluralizeFindings(findings)} and ${pluralize(assets, 'asset')} that only this import created, and sets back the statuses, texts and ports that it changed. What other imports have, what someone changed and assets that you cannot delete stay. You cannot redo the import, but you can import the report again.`,
  },
} as const;
