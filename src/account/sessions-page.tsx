import { Type } from 'typebox';
import { endSession, endSessions } from '../domain/sign-in/end-sessions.ts';
import { type ListedSession, listSessions } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import {
  changeContextOf,
  clearSessionCookie,
  sessionLimits,
  requireSignedInSession,
} from '../http/browser-sessions.ts';
import { Button, Form, Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/account/sessions';
const MAX_ID_LENGTH = 64;

const NOTICES: Readonly<Record<string, string>> = {
  ended: MESSAGES.sessions.ended,
  elsewhere: MESSAGES.sessions.endedElsewhere,
};

/** Texts by the `method` of a session, to which `+totp` and others may be appended. */
const METHODS: Readonly<Record<string, string>> = {
  password: MESSAGES.sessions.withPassword,
  passkey: MESSAGES.sessions.withPasskey,
  sso: MESSAGES.sessions.withSso,
  invitation: MESSAGES.sessions.withInvitation,
  reset: MESSAGES.sessions.withReset,
};

/** Lists the sessions of the user, and ends them. */
export const registerSessions: RouteRegistrar = (app, context) => {
  const { db, clock } = context;

  app.get(
    PATH,
    {
      config: { operation: 'sessions-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 20 })) }),
      },
    },
    async (request, reply) => {
      const { id: currentId, userId } = requireSignedInSession(request);
      const sessions = await listSessions(db.read, userId, sessionLimits(context), clock());
      const done = Object.hasOwn(NOTICES, request.query.done ?? '')
        ? NOTICES[request.query.done ?? '']
        : undefined;
      return sendHtmlPage(
        request,
        reply,
        <AccountPage path={PATH}>
          {done !== undefined && <Notice kind="success">{done}</Notice>}
          <Section title={MESSAGES.sessions.title} hint={MESSAGES.sessions.intro}>
            <ul class="rows">
              {sessions.map((session) => (
                <SessionRow key={session.id} session={session} isCurrent={session.id === currentId} />
              ))}
            </ul>
          </Section>
          <Section title={MESSAGES.sessions.signOutEverywhere} hint={MESSAGES.sessions.everywhereHint}>
            <Form action={`${PATH}/end-all`}>
              <div class="actions">
                {sessions.length > 1 && (
                  <Button kind="plain" name="which" value="others">
                    {MESSAGES.sessions.signOutElsewhere}
                  </Button>
                )}
                <Button kind="danger" name="which" value="all">
                  {MESSAGES.sessions.signOutEverywhere}
                </Button>
              </div>
            </Form>
          </Section>
        </AccountPage>,
      );
    },
  );

  app.post(
    `${PATH}/end`,
    {
      config: { operation: 'end-session', access: 'session' },
      schema: { hide: true, body: Type.Object({ session: Type.String({ maxLength: MAX_ID_LENGTH }) }) },
    },
    async (request, reply) => {
      const current = requireSignedInSession(request);
      const { session } = request.body;
      await db.write((tx) => endSession(tx, changeContextOf(request, clock()), current, session));
      if (session !== current.id) return reply.redirect(`${PATH}?done=ended`, 303);
      clearSessionCookie(context, reply);
      return reply.redirect('/sign-in', 303);
    },
  );

  app.post(
    `${PATH}/end-all`,
    {
      config: { operation: 'end-sessions', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ which: Type.Union([Type.Literal('all'), Type.Literal('others')]) }),
      },
    },
    async (request, reply) => {
      const current = requireSignedInSession(request);
      const endsAll = request.body.which === 'all';
      await db.write((tx) =>
        endSessions(tx, changeContextOf(request, clock()), current, endsAll ? null : current.id),
      );
      if (!endsAll) return reply.redirect(`${PATH}?done=elsewhere`, 303);
      clearSessionCookie(context, reply);
      return reply.redirect('/sign-in', 303);
    },
  );
};

function SessionRow({ session, isCurrent }: { session: ListedSession; isCurrent: boolean }) {
  const browser = browserName(session.userAgent);
  return (
    <li>
      <div class="what">
        <h3>
          {browser} {isCurrent && <span class="pill">{MESSAGES.sessions.thisOne}</span>}
        </h3>
        <p class="hint">
          {MESSAGES.sessions.lastUsed} <RelativeTime at={session.lastUsedAt} /> from {session.lastUsedFrom}
        </p>
        <p class="hint">
          {MESSAGES.sessions.signedIn} <RelativeTime at={session.createdAt} />{' '}
          {signInMethodLabel(session.method)}
        </p>
      </div>
      <Form action={`${PATH}/end`}>
        <input type="hidden" name="session" value={session.id} />
        <Button
          kind="plain"
          label={isCurrent ? MESSAGES.sessions.signOutThis : MESSAGES.sessions.signOutNamed(browser)}
        >
          {MESSAGES.sessions.signOut}
        </Button>
      </Form>
    </li>
  );
}

/** @returns a phrase for the method of a session */
export function signInMethodLabel(method: string): string {
  const [first = '', ...otherFactors] = method.split('+');
  const label = Object.hasOwn(METHODS, first) ? METHODS[first] : undefined;
  const words = label ?? MESSAGES.sessions.with(first);
  return otherFactors.length === 0 ? words : MESSAGES.sessions.withSecondFactor(words);
}

/** Tested in this order, because many user agents also name browsers further down: Edge names Chrome and Safari. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const MAX_BROWSER_NAME = 60;

/** @returns a readable name of a user agent: `Firefox on Linux` */
export function browserName(userAgent: string): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(BROWSERS);
  const system = nameIn(SYSTEMS);
  if (browser !== undefined)
    return system === undefined ? browser : MESSAGES.browsers.onSystem(browser, system);
  const text = userAgent.trim().slice(0, MAX_BROWSER_NAME);
  return text === '' ? MESSAGES.browsers.unknown : text;
}
