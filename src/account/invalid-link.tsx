import type { ComponentChildren } from 'preact';
import { Page } from '../pages/layout.tsx';
import { MESSAGES } from './messages.ts';

/** The longest token of a link that is looked at. */
export const MAX_LINK_TOKEN_LENGTH = 200;

/** What a page runs that was opened by a secret link. */
export const LINK_SCRIPTS = ['clean-address.js'] as const;

/** What someone sees whose link cannot be used, whatever the reason. */
export function InvalidLink({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Page title={title} scripts={LINK_SCRIPTS}>
      {children}
      <p>
        <a href="/sign-in">{MESSAGES.link.signIn}</a>
      </p>
    </Page>
  );
}
