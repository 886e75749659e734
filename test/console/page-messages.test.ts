import { describe, expect, it } from 'vitest';
import {
  hoursMessages,
  assessmentMessages,
  scopeMessages,
} from '../../console/src/pages/assessments/messages.ts';
import {
  assetDialogMessages,
  assetMessages,
  portEventText,
} from '../../console/src/pages/assets/messages.ts';
import { parsePastedAssets, parseScopeRules } from '../../console/src/pages/assets/pasted-assets.ts';
import { bulkEditMessages, exportMessages } from '../../console/src/pages/vulnerabilities/dialog-messages.ts';
import {
  previewMessages,
  vulnerabilityListMessages,
} from '../../console/src/pages/vulnerabilities/messages.ts';
import {
  activityMessages,
  changeMessages,
  conflictMessages,
  vulnerabilityFormMessages,
  vulnerabilityMessages,
} from '../../console/src/pages/vulnerability/messages.ts';

describe('Console messages: vulnerability list', () => {
  it('name how many vulnerabilities an action changes', () => {
    expect(vulnerabilityListMessages.editAll(undefined)).toBe('Edit all that match');
    expect(vulnerabilityListMessages.editAll(1_234)).toBe('Edit all 1,234 that match');
    expect(vulnerabilityListMessages.allClosed(1)).toBe('The only finding is closed.');
    expect(vulnerabilityListMessages.allClosed(2_000)).toBe('All 2,000 findings are closed.');
    expect(vulnerabilityListMessages.commentPosted(1)).toBe('Comment posted');
    expect(vulnerabilityListMessages.commentPosted(3)).toBe('Comment posted on 3 findings');
    expect(bulkEditMessages.preview(1, 0)).toBe('1 matches, 0 will change.');
    expect(bulkEditMessages.preview(2_000, 1)).toBe('2,000 match, 1 will change.');
    expect(bulkEditMessages.submit(undefined)).toBe('Edit');
    expect(bulkEditMessages.submit(1)).toBe('Edit 1 finding');
    expect(exportMessages.progress(10, undefined)).toBe('10 exported');
    expect(exportMessages.progress(10, 2_000)).toBe('10 of 2,000 exported');
    expect(exportMessages.done(1, 'a.csv')).toBe('Exported 1 finding to a.csv');
    expect(previewMessages.evidence(1)).toBe('Evidence');
    expect(previewMessages.evidence(3)).toBe('Evidence (1 of 3)');
  });
});

describe('Console messages: vulnerability page', () => {
  it('count attachments, comments and retests', () => {
    expect(vulnerabilityMessages.attached(['a.txt'])).toBe('a.txt attached');
    expect(vulnerabilityMessages.attached(['a.txt', 'b.txt'])).toBe('2 files attached');
    expect(vulnerabilityMessages.deletedComments(0)).toBe('0 comments');
    expect(activityMessages.comments(0)).toBe('Comments');
    expect(activityMessages.comments(2_000)).toBe('Comments 2,000');
    expect(vulnerabilityMessages.position(2, 1_302)).toBe('2 of 1,302');
    expect(vulnerabilityMessages.position(2, undefined)).toBe('2');
    expect(conflictMessages.remaining(1)).toBe('1 field left to choose');
    expect(conflictMessages.onlyMine(['Title', 'Tags'])).toBe('Changed by you only, and kept: Title, Tags.');
    expect(vulnerabilityFormMessages.moveUp('step', 2)).toBe('Move step 2 up');
  });

  it('name the tags and files of a change', () => {
    expect(changeMessages.tagsAdded(['a', 'b'])).toBe('added the tags a, b');
    expect(changeMessages.tagsRemoved(['c'])).toBe('removed the tag c');
    expect(changeMessages.attached(['a.txt'])).toBe('attached a.txt');
    expect(changeMessages.filesDeleted([])).toBe('deleted a file');
  });
});

describe('Console messages: assessments', () => {
  it('name the testing sessions that a state change ends', () => {
    expect(assessmentMessages.endedSessions(['Ada'])).toBe(
      'This ends 1 running testing session: Ada. Setting the state back does not restart it.',
    );
    expect(assessmentMessages.endedSessions(['Ada', 'Bo'])).toBe(
      'This ends 2 running testing sessions: Ada, Bo. Setting the state back does not restart them.',
    );
    expect(assessmentMessages.hasDrafts(1)).toBe(
      'This assessment has 1 draft, which the customer does not see. Complete it anyway?',
    );
    expect(hoursMessages.total(0)).toBe('{hours} in total');
    expect(hoursMessages.total(1)).toBe('{hours} in total, 1 running');
  });

  it('summarize a pasted list for a scope', () => {
    const summary = scopeMessages.pastedSummary({ new: 1, known: 0, inScope: 2 });
    expect(summary).toBe('1 new, 2 already in scope');
    expect(scopeMessages.pasted(3, summary)).toBe('3 assets found: 1 new, 2 already in scope.');
    expect(scopeMessages.pasted(1, undefined)).toBe('1 asset found.');
    expect(scopeMessages.moreInvalid(1)).toBe('1 more line is invalid.');
    expect(scopeMessages.addAssets(0)).toBe('Add');
  });
});

describe('Console messages: assets', () => {
  it('describe changes of ports', () => {
    expect(portEventText('opened', '', 'ssh')).toBe('opened: ssh');
    expect(portEventText('closed', 'ssh', '')).toBe('closed: ssh');
    expect(portEventText('closed', '', '')).toBe('closed');
    expect(portEventText('changed', '', 'nginx')).toBe('changed from unknown service to nginx');
  });

  it('say what a deletion and an addition affect', () => {
    expect(assetMessages.deleteHint(1, 2)).toContain('1 open port, their history');
    expect(assetMessages.deleteHint(1, 2)).toContain('2 open findings will stay');
    expect(assetDialogMessages.submit(0, 2)).toBe('Add 2 to the scope');
    expect(assetDialogMessages.submit(3, 2)).toBe('Add 3');
    expect(assetDialogMessages.addedBeforeError(1)).toBe('1 asset was added before the error.');
  });

  it('parsePastedAssets: expands ranges up to a number of addresses in all', () => {
    const ranges = Array.from({ length: 100_000 }, (_, index) => `10.${index % 256}.0.0/22`);
    const { assets, invalid, duplicates } = parsePastedAssets(
      `192.0.2.9/32\n${ranges.join('\n')}\n192.0.2.1`,
    );
    expect(assets).toHaveLength(16_386);
    expect(assets.at(-1)).toMatchObject({ line: 100_002, location: '192.0.2.1' });
    expect(duplicates).toBe(0);
    expect(invalid).toHaveLength(100_000 - 16);
    expect(invalid[0]).toEqual({
      line: 18,
      text: '10.16.0.0/22',
      error: 'exceeds the 16,384 addresses that all ranges may have; add it afterwards',
    });
  });

  it('parsePastedAssets: reports each invalid line with its reason', () => {
    const text = [
      '192.0.2.1, Printer',
      '# comment',
      '10.0.0.0/8',
      'example.com:22',
      'example.com/path',
      'bad host',
      'ftp://example.com/',
      'https://user:secret@example.com/',
      'HTTPS://Example.com:443/a#b',
      '192.0.2.1',
    ].join('\n');
    const { assets, invalid, duplicates } = parsePastedAssets(text);
    expect(assets.map(({ line, assetType, location, name }) => [line, assetType, location, name])).toEqual([
      [1, 'host', '192.0.2.1', 'Printer'],
      [9, 'webapp', 'https://example.com/a', ''],
    ]);
    expect(invalid.map(({ line, error }) => `${line} ${error}`)).toEqual([
      '3 has more than 1,024 addresses; enter smaller ranges',
      '4 has a port; enter a URL for a web application, or only the host',
      '5 has a path; start URLs with https:// or http://',
      '6 is neither an IP address nor a hostname',
      '7 must start with https:// or http://',
      '8 must not contain a user name or a password',
    ]);
    expect(duplicates).toBe(1);
    expect(parseScopeRules(' One \n\nTwo')).toEqual(['One', 'Two']);
  });
});
