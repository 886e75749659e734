import { Alert, Anchor, Loader, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, parseTotal } from '../../queries/client.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { errorText } from '../../components/notifications.ts';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { VulnerabilityPills } from '../../components/vulnerability-pills.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { assetMessages as messages } from './messages.ts';
import classes from './asset-page.module.css';

/** The vulnerability list shows all. */
const MAX_SHOWN = 20;

/** The open vulnerabilities of an asset, most severe first (operation 15). */
export function AssetVulnerabilities({ uid }: { uid: string }) {
  const { data, error } = useQuery({
    queryKey: ['asset', uid, 'vulnerabilities'],
    async queryFn({ signal }) {
      const filters = { 'filter[asset_uid][]': [uid], 'filter[include_attachments]': false };
      const [open, all] = await Promise.all([
        api.GET('/v1/vulnerabilities', {
          params: {
            query: {
              ...filters,
              'filter[phase][]': ['new', 'open'],
              sort: '-severity',
              fields: 'id,title,severity,status_id,draft',
              'page[size]': MAX_SHOWN,
            },
          },
          signal,
        }),
        api.GET('/v1/vulnerabilities', {
          params: { query: { ...filters, fields: 'id', 'page[size]': 1 } },
          signal,
        }),
      ]);
      return { rows: open.data, open: parseTotal(open.response), all: parseTotal(all.response) };
    },
  });
  if (error !== null) return <Alert color="red">{errorText(error)}</Alert>;
  if (data === undefined) return <Loader size="sm" aria-label="Loading" />;
  if (data.all === 0) return <DimmedText>{messages.noVulnerabilities}</DimmedText>;
  return (
    <Stack gap="sm">
      <div>
        {data.rows.map(({ id, title, severity, status_id, draft }) => (
          <div key={id} className={classes.found}>
            <SeverityMark severity={severity} />
            <Anchor
              component={Link}
              to={`/vulnerabilities/${id}`}
              size="sm"
              c="inherit"
              className={classes.title}
              title={title}
            >
              {title}
            </Anchor>
            <VulnerabilityPills vulnerability={{ draft }} />
            <StatusMark id={status_id} withLabel />
          </div>
        ))}
      </div>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/vulnerabilities" search={listAddress({ asset_uid: [uid] })} {...props} />
        )}
      >
        {messages.showAll(data.open, data.all)}
      </Anchor>
    </Stack>
  );
}
