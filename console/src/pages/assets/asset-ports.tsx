import { Alert, Anchor, Button, Group, Loader, SegmentedControl, Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { PortFacts } from '../../../../client/src/openapi-types.ts';
import type { Asset } from '../../queries/client.ts';
import { portHistoryQuery, portsQuery } from '../../queries/assets.ts';
import { errorText } from '../../components/notifications.ts';
import { Time } from '../../components/time.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { assetMessages as messages, portEventText } from './messages.ts';
import classes from './asset-page.module.css';

type PortView = 'open' | 'closed' | 'history';

/** The open ports, closed ports and port history of a host. */
export function AssetPorts({ asset }: { asset: Asset }) {
  const [view, setView] = useState<PortView>('open');
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          size="xs"
          aria-label={messages.portView}
          value={view}
          onChange={(value) => setView(value as PortView)}
          data={[
            { value: 'open', label: messages.openPorts(asset.openPortCount) },
            { value: 'closed', label: 'Closed' },
            { value: 'history', label: 'History' },
          ]}
        />
      </Group>
      {view === 'history' ? <PortEvents asset={asset} /> : <PortList asset={asset} state={view} />}
    </Stack>
  );
}

function PortList({ asset, state }: { asset: Asset; state: 'open' | 'closed' }) {
  const query = useInfiniteQuery(portsQuery(asset, state));
  const rows = query.data?.pages.flatMap(({ data }) => data.attributes.ports) ?? [];
  if (query.error !== null) return <Alert color="red">{errorText(query.error)}</Alert>;
  if (query.isPending) return <Loader size="sm" aria-label="Loading" />;
  if (rows.length === 0)
    return <DimmedText>{state === 'open' ? messages.noOpenPorts : messages.noClosedPorts}</DimmedText>;
  return (
    <>
      <div className={classes.wide}>
        <Table fz="sm" verticalSpacing={6} miw={560}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Port</Table.Th>
              <Table.Th>Service</Table.Th>
              <Table.Th>Product</Table.Th>
              <Table.Th>{messages.firstSeen}</Table.Th>
              <Table.Th>{messages.lastSeen}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((port) => (
              <Table.Tr key={`${port.number}/${port.protocol}`}>
                <Table.Td>
                  <b>{port.number}</b>/{port.protocol}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }} title={port.service_banner ?? undefined}>
                  {port.service_name}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {port.product_name} {port.product_version}
                </Table.Td>
                <Table.Td>
                  <Time at={port.first_seen} />
                </Table.Td>
                <Table.Td>
                  <Time at={port.last_seen} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <ShowMore query={query} />
    </>
  );
}

function PortEvents({ asset }: { asset: Asset }) {
  const query = useInfiniteQuery(portHistoryQuery(asset));
  const events = query.data?.pages.flatMap(({ data }) => data.attributes.events) ?? [];
  if (query.error !== null) return <Alert color="red">{errorText(query.error)}</Alert>;
  if (query.isPending) return <Loader size="sm" aria-label="Loading" />;
  if (events.length === 0) return <DimmedText>{messages.noPortHistory}</DimmedText>;
  return (
    <>
      <ol className={classes.events} aria-label={messages.portHistory}>
        {events.map((event, index) => (
          <li key={`${index} ${event.at} ${event.number}`}>
            <span className={classes.faint}>
              <Time at={event.at} />
            </span>
            <span>
              <b>
                {event.number}/{event.protocol}
              </b>{' '}
              {portEventText(event.kind, serviceText(event.before), serviceText(event.after))}{' '}
              {event.import_id !== null && (
                <Anchor component={Link} to={`/imports/${event.import_id}`} size="sm">
                  {messages.importLink(event.import_id)}
                </Anchor>
              )}
            </span>
          </li>
        ))}
      </ol>
      <ShowMore query={query} />
    </>
  );
}

const serviceText = (facts: PortFacts | null) =>
  [facts?.service_name, facts?.product_name, facts?.product_version]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .join(' ');

interface ShowMoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

function ShowMore({ query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: ShowMoreProps) {
  if (!hasNextPage) return null;
  return (
    <Group>
      <Button size="xs" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {messages.showMore}
      </Button>
    </Group>
  );
}
