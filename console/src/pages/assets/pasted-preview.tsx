import { Badge, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ASSET_TYPES } from '../../queries/assets.ts';
import type { PastedAsset, WrongLine } from './pasted-assets.ts';
import classes from './pasted-preview.module.css';

export type PreviewedLine = WrongLine;

interface PastedPreviewProps {
  fresh: readonly PastedAsset[];
  known: readonly PastedAsset[];
  /** How many of the known are put on the listing. */
  listed: number;
  listing: string | null;
  twice: number;
  wrong: readonly PreviewedLine[];
}

/** Lines that are shown of each kind; the rest is counted. */
const SHOWN = 50;

/** What a pasted list would do, before it does. */
export function PastedPreview({ fresh, known, listed, listing, twice, wrong }: PastedPreviewProps) {
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Text size="sm">
          <b>{fresh.length.toLocaleString()}</b> new
        </Text>
        <Text size="sm">
          <b>{known.length.toLocaleString()}</b> known
          {listed > 0 && `, ${listed.toLocaleString()} of them put on ${listing}`}
        </Text>
        {twice > 0 && (
          <Text size="sm">
            <b>{twice.toLocaleString()}</b> named twice
          </Text>
        )}
        {wrong.length > 0 && (
          <Text size="sm">
            <b>{wrong.length.toLocaleString()}</b> wrong, left out
          </Text>
        )}
      </Group>
      {wrong.length > 0 && (
        <ul className={classes.lines} aria-label="Wrong lines">
          {wrong.slice(0, SHOWN).map(({ line, text, wrong: why }) => (
            <li key={line} className={classes.wrong}>
              <IconAlertTriangle size={14} aria-hidden />
              <span>
                Line {line}: <bdi>{text.slice(0, 200)}</bdi> {why}
              </span>
            </li>
          ))}
          <More number={wrong.length - SHOWN} />
        </ul>
      )}
      <Lines label="New" items={fresh} />
      <Lines label="Known" items={known} />
    </Stack>
  );
}

function Lines({ label, items }: { label: string; items: readonly PastedAsset[] }) {
  if (items.length === 0) return null;
  return (
    <ul
      className={classes.lines}
      aria-label={label}
      // It scrolls, and the arrow keys do that where one is in it.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      {items.slice(0, SHOWN).map(({ line, assetType, location, name }) => (
        <li key={line}>
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
            <span className={classes.type}>{ASSET_TYPES[assetType]}</span>
          </span>
        </li>
      ))}
      <More number={items.length - SHOWN} />
    </ul>
  );
}

function More({ number }: { number: number }) {
  return number > 0 ? <li className={classes.type}>and {number.toLocaleString()} more</li> : null;
}
