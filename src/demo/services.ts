import type { SeededRandom } from './random.ts';

/** What a scan finds at a port. */
export type Service = readonly [
  number: number,
  protocol: 'tcp' | 'udp',
  service: string | null,
  banner: string | null,
  product: string | null,
  version: string | null,
  cpe: string | null,
];

/** What answers on a server that has grown for years; `null` is what the scan could not tell. */
const OPEN: readonly Service[] = [
  [21, 'tcp', 'ftp', '220 ProFTPD Server ready.', 'ProFTPD', '1.3.8b', 'cpe:/a:proftpd:proftpd:1.3.8b'],
  [
    22,
    'tcp',
    'ssh',
    'SSH-2.0-OpenSSH_9.6p1 Ubuntu-3ubuntu13.5',
    'OpenSSH',
    '9.6p1',
    'cpe:/a:openbsd:openssh:9.6p1',
  ],
  [25, 'tcp', 'smtp', '220 mail ESMTP Postfix', 'Postfix smtpd', null, 'cpe:/a:postfix:postfix'],
  [53, 'tcp', 'domain', null, 'ISC BIND', '9.18.28', 'cpe:/a:isc:bind:9.18.28'],
  [53, 'udp', 'domain', null, 'ISC BIND', '9.18.28', 'cpe:/a:isc:bind:9.18.28'],
  [80, 'tcp', 'http', 'nginx/1.24.0', 'nginx', '1.24.0', 'cpe:/a:igor_sysoev:nginx:1.24.0'],
  [88, 'tcp', 'kerberos-sec', null, 'MIT Kerberos', '1.20', null],
  [110, 'tcp', 'pop3', '+OK Dovecot ready.', 'Dovecot pop3d', null, 'cpe:/a:dovecot:dovecot'],
  [111, 'tcp', 'rpcbind', null, 'rpcbind', '2-4', null],
  [123, 'udp', 'ntp', null, 'NTP', 'v4', null],
  [139, 'tcp', 'netbios-ssn', null, 'Samba smbd', '4.19.5', 'cpe:/a:samba:samba:4.19.5'],
  [
    143,
    'tcp',
    'imap',
    '* OK [CAPABILITY IMAP4rev1 STARTTLS] Dovecot ready.',
    'Dovecot imapd',
    null,
    'cpe:/a:dovecot:dovecot',
  ],
  [161, 'udp', 'snmp', null, 'net-snmp', null, 'cpe:/a:net-snmp:net-snmp'],
  [389, 'tcp', 'ldap', null, 'OpenLDAP', '2.6.7', 'cpe:/a:openldap:openldap:2.6.7'],
  [443, 'tcp', 'https', 'nginx/1.24.0', 'nginx', '1.24.0', 'cpe:/a:igor_sysoev:nginx:1.24.0'],
  [445, 'tcp', 'microsoft-ds', null, 'Samba smbd', '4.19.5', 'cpe:/a:samba:samba:4.19.5'],
  [500, 'udp', 'isakmp', null, 'strongSwan', '5.9.13', null],
  [514, 'udp', 'syslog', null, null, null, null],
  [587, 'tcp', 'submission', '220 mail ESMTP Postfix', 'Postfix smtpd', null, 'cpe:/a:postfix:postfix'],
  [631, 'tcp', 'ipp', 'CUPS/2.4 IPP/2.1', 'CUPS', '2.4', 'cpe:/a:apple:cups:2.4'],
  [636, 'tcp', 'ldaps', null, 'OpenLDAP', '2.6.7', 'cpe:/a:openldap:openldap:2.6.7'],
  [873, 'tcp', 'rsync', '@RSYNCD: 31.0', 'rsync', '3.2.7', null],
  [993, 'tcp', 'imaps', null, 'Dovecot imapd', null, 'cpe:/a:dovecot:dovecot'],
  [995, 'tcp', 'pop3s', null, 'Dovecot pop3d', null, 'cpe:/a:dovecot:dovecot'],
  [1194, 'udp', 'openvpn', null, 'OpenVPN', null, 'cpe:/a:openvpn:openvpn'],
  [1521, 'tcp', 'oracle-tns', null, 'Oracle TNS listener', '19.0.0.0.0', 'cpe:/a:oracle:database_server:19c'],
  [2049, 'tcp', 'nfs', null, null, '3-4', null],
  [2375, 'tcp', 'docker', null, 'Docker', '26.1.3', 'cpe:/a:docker:docker:26.1.3'],
  [3000, 'tcp', 'http', 'Grafana', 'Grafana', '10.4.2', 'cpe:/a:grafana:grafana:10.4.2'],
  [3128, 'tcp', 'http-proxy', 'squid/6.6', 'Squid http proxy', '6.6', 'cpe:/a:squid-cache:squid:6.6'],
  [
    3306,
    'tcp',
    'mysql',
    '5.5.5-10.11.8-MariaDB-0ubuntu0.24.04.1',
    'MariaDB',
    '10.11.8',
    'cpe:/a:mariadb:mariadb:10.11.8',
  ],
  [3389, 'tcp', 'ms-wbt-server', null, 'xrdp', null, null],
  [5060, 'udp', 'sip', 'Asterisk PBX 20.6.0', 'Asterisk', '20.6.0', 'cpe:/a:digium:asterisk:20.6.0'],
  [5432, 'tcp', 'postgresql', null, 'PostgreSQL DB', '14.12', 'cpe:/a:postgresql:postgresql:14.12'],
  [5601, 'tcp', 'http', 'Kibana', 'Kibana', '8.13.4', 'cpe:/a:elastic:kibana:8.13.4'],
  [5672, 'tcp', 'amqp', 'AMQP 0-9-1 RabbitMQ 3.12.1', 'RabbitMQ', '3.12.1', 'cpe:/a:vmware:rabbitmq:3.12.1'],
  [5900, 'tcp', 'vnc', 'RFB 003.008', 'TigerVNC', null, null],
  [6379, 'tcp', 'redis', 'Redis 7.0.15', 'Redis key-value store', '7.0.15', 'cpe:/a:redis:redis:7.0.15'],
  [8000, 'tcp', null, null, null, null, null],
  [8080, 'tcp', 'http', 'Apache-Coyote/1.1', 'Apache Tomcat', '9.0.89', 'cpe:/a:apache:tomcat:9.0.89'],
  [8443, 'tcp', 'https-alt', 'Jetty(10.0.20)', 'Jetty', '10.0.20', 'cpe:/a:eclipse:jetty:10.0.20'],
  [9090, 'tcp', 'http', 'Prometheus', 'Prometheus', '2.51.0', null],
  [
    9200,
    'tcp',
    'http',
    'Elasticsearch 8.13.4',
    'Elasticsearch REST API',
    '8.13.4',
    'cpe:/a:elastic:elasticsearch:8.13.4',
  ],
  [9418, 'tcp', 'git', null, null, null, null],
  [
    11211,
    'tcp',
    'memcached',
    'STAT version 1.6.24',
    'Memcached',
    '1.6.24',
    'cpe:/a:memcached:memcached:1.6.24',
  ],
  [27017, 'tcp', 'mongodb', null, 'MongoDB', '6.0.14', 'cpe:/a:mongodb:mongodb:6.0.14'],
  [50051, 'tcp', null, null, null, null, null],
];

const CLOSED: readonly Service[] = [
  [23, 'tcp', 'telnet', null, null, null, null],
  [69, 'udp', 'tftp', null, null, null, null],
  [113, 'tcp', 'ident', null, null, null, null],
  [512, 'tcp', 'exec', null, null, null, null],
  [1433, 'tcp', 'ms-sql-s', null, null, null, null],
  [8081, 'tcp', null, null, null, null, null],
  [9100, 'tcp', 'jetdirect', null, null, null, null],
];

export interface Services {
  open: readonly Service[];
  /** Open once, and closed by now. */
  closed: readonly Service[];
}

/** Of the host that the demo shows: more than a screen of open ones, and some that are closed now. */
export const ALL_SERVICES: Services = { open: OPEN, closed: CLOSED };

/**
 * @param sure ports that are open
 * @returns what an ordinary host has
 */
export function pickServices(chance: SeededRandom, sure: readonly number[] = []): Services {
  return {
    open: OPEN.filter(([number]) => chance.happens(12) || sure.includes(number)),
    closed: CLOSED.filter(() => chance.happens(10)),
  };
}
