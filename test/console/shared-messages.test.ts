import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { fillSentence } from '../../console/src/components/fill-sentence.ts';
import { commonMessages } from '../../console/src/components/messages.ts';
import { groupMessages } from '../../console/src/pages/groups/messages.ts';
import { importMessages } from '../../console/src/pages/imports/messages.ts';
import { tagMessages } from '../../console/src/pages/tags/messages.ts';
import { queryMessages } from '../../console/src/queries/messages.ts';

describe('Messages of the console', () => {
  it.each([
    [commonMessages.list.selected(4), '4 selected'],
    [importMessages.result.assetsCreated(1), 'asset added'],
    [tagMessages.tagged('vulnerability', 1), '1 finding'],
    [tagMessages.removeWarning('asset', 3), 'It is removed from 3 assets. You cannot undo this.'],
    [groupMessages.bulk.submitRemove(1), 'Remove 1 person'],
    [groupMessages.add.submit(4), 'Add 4 people'],
    [
      groupMessages.remove.warning(1, 1),
      'This removes 1 membership. 1 assessment stays, without a group. You cannot undo this.',
    ],
    [queryMessages.testingSession.timerStopped(2.5), 'Timer stopped after 2.5 hours'],
    [
      queryMessages.import.undoResult({ findings: 1, assets: 2, statuses: 1 }),
      '1 finding and 2 assets deleted, 1 status restored',
    ],
    [
      queryMessages.vulnerability.countChanged(1, 12),
      '1 finding matches now, instead of 12. Nothing was changed. Check the list and try again.',
    ],
    [commonMessages.draft.publishCount(1), 'Publish 1 draft'],
    [commonMessages.draft.publishHint(2), 'The customer will see them. You cannot take this back.'],
    [queryMessages.vulnerability.published(1), '1 draft published'],
    [queryMessages.vulnerability.published(3), '3 drafts published'],
    [queryMessages.vulnerability.undone(2, 0), 'Change to 2 findings undone'],
  ])('use singular and plural: %s', (text, expected) => {
    expect(text).toBe(expected);
  });

  it('say how many assets an update of the criticality skipped', () => {
    expect(queryMessages.asset.criticality('high', 2, 0)).toBe('Criticality of 2 assets set to high');
    expect(queryMessages.asset.criticality('high', 2, 1)).toBe(
      'Criticality of 2 assets set to high. 1 asset skipped: no permission',
    );
  });
});

describe('fillSentence', () => {
  it('replaces placeholders at the beginning, in the middle and at the end of a sentence', () => {
    const count = createElement('b', null, '3');
    expect(renderToStaticMarkup(fillSentence('{count} of {total} done', { count, total: 4 }))).toBe(
      '<b>3</b> of 4 done',
    );
  });

  it('takes values as they are', () => {
    const values = { name: '{at} <i>Ada</i>', at: 'now' };
    expect(renderToStaticMarkup(fillSentence('Changed by {name} {at}.', values))).toBe(
      'Changed by {at} &lt;i&gt;Ada&lt;/i&gt; now.',
    );
  });
});
