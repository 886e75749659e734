import { Badge, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ASSET_TYPE_LABELS } from '../../queries/assets.ts';
import type { PastedAsset, InvalidLine } from './pasted-assets.ts';
import { assetDialogMessages as messages } from './messages.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import classes from './pasted-preview.module.css';

interface PastedPreviewProps {
  newAssets: readonly PastedAsset[];
  knownAssets: readonly PastedAsset[];
  /** Number of known assets that are added to the listing. */
  listedCount: number;
  /** Uid of the assessment. */
  listing: string | null;
  duplicates: number;
  invalid: readonly InvalidLine[];
}

/** Lines per list; the rest is a count. */
const MAX_LINES = 50;

const bold = (count: number) => <b>{count.toLocaleString()}</b>;

/** Shows what adding a pasted list would do. */
export function PastedPreview({
  newAssets,
  knownAssets,
  listedCount,
  listing,
  duplicates,
  invalid,
}: PastedPreviewProps) {
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Text size="sm">{fillSentence(messages.new, { count: bold(newAssets.length) })}</Text>
        <Text size="sm">
          {fillSentence(listedCount > 0 ? messages.knownAndListed(listedCount) : messages.known, {
            count: bold(knownAssets.length),
            listing: listing !== null && <AssessmentName uid={listing} />,
          })}
        </Text>
        {duplicates > 0 && (
          <Text size="sm">{fillSentence(messages.duplicates(duplicates), { count: bold(duplicates) })}</Text>
        )}
        {invalid.length > 0 && (
          <Text size="sm">{fillSentence(messages.skipped, { count: bold(invalid.length) })}</Text>
        )}
      </Group>
      {invalid.length > 0 && (
        <ul className={classes.lines} aria-label={messages.invalidLines}>
          {invalid.slice(0, MAX_LINES).map(({ line, text, error: why }) => (
            // Several addresses of a range can be rejected.
            <li key={`${line} ${text}`} className={classes.wrong}>
              <IconAlertTriangle size={14} aria-hidden />
              <span>
                {fillSentence(messages.invalidLine(line), {
                  text: <bdi>{text.slice(0, 200)}</bdi>,
                  error: why,
                })}
              </span>
            </li>
          ))}
          <More number={invalid.length - MAX_LINES} />
        </ul>
      )}
      <AssetLines label="New" items={newAssets} />
      <AssetLines label="Known" items={knownAssets} />
    </Stack>
  );
}

function AssetLines({ label, items }: { label: string; items: readonly PastedAsset[] }) {
  if (items.length === 0) return null;
  return (
    <ul
      className={classes.lines}
      aria-label={label}
      // Focusable, so that the arrow keys scroll it.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      {items.slice(0, MAX_LINES).map(({ assetType, location, name }) => (
        <li key={`${assetType} ${location}`}>
          <Badge
            size="sm"
            variant={label === 'New' ? 'light' : 'default'}
            tt="none"
            className={classes.badge}
          >
            {label}
          </Badge>
          <span>
            <bdi>{location}</bdi>
            {name !== '' && (
              <>
                , <bdi>{name}</bdi>
              </>
            )}{' '}
            <span className={classes.type}>{ASSET_TYPE_LABELS[assetType]}</span>
          </span>
        </li>
      ))}
      <More number={items.length - MAX_LINES} />
    </ul>
  );
}

function More({ number }: { number: number }) {
  return number > 0 ? <li className={classes.type}>{messages.moreLines(number)}</li> : null;
}
