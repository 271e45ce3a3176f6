// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/log/log_format.h"

#include "headrace/base/error.h"
#include "headrace/io/log/log.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_log";

using Field = std::pair<std::string_view, LogType>;

struct Known {
  std::string_view name;
  std::string_view pattern;  // grok
};

// The formats that grok patterns describe; a field of an access log is found without.
constexpr Known kFormats[] = {
    {"nginx_error",
     R"re(%{NGINXTIME:time:localtime} \[%{WORD:level}\] %{INT:pid:int}#%{INT:tid:int}: (?:\*%{INT:connection:int} )?%{GREEDYDATA:message})re"},
    {"apache_error",
     R"re(\[%{APACHETIME:time:localtime}\] \[(?:%{WORD:module}?:)?%{LOGLEVEL:level}\](?: \[pid %{INT:pid:int}(?::tid %{INT:tid:int})?\])?(?: \[client %{NOTBRACKET:client}\])? %{GREEDYDATA:message})re"},
    {"syslog",
     R"re((?:<%{INT:priority:int}>)?%{SYSLOGTIMESTAMP:time} %{NOTSPACE:host} %{PROG:program}(?:\[%{INT:pid:int}\])?: ?%{GREEDYDATA:message})re"},
    {"syslog5424",
     R"re(<%{INT:priority:int}>%{INT:version:int} (?:-|%{TIMESTAMP_ISO8601:time:time}) %{NOTSPACE:host} %{NOTSPACE:program} %{NOTSPACE:pid} %{NOTSPACE:message_id} %{SYSLOGDATA:data}(?: %{GREEDYDATA:message})?)re"},
    {"cri",
     R"re(%{TIMESTAMP_ISO8601:time:time} %{WORD:stream} %{NOTSPACE:tag} %{GREEDYDATA:message})re"},
    {"cef",
     R"re((?:%{CEFFRONT:front} )?CEF:%{INT:version:int}\|%{CEFFIELD:vendor}\|%{CEFFIELD:product}\|%{CEFFIELD:device_version}\|%{CEFFIELD:signature}\|%{CEFFIELD:name}\|%{CEFFIELD:severity}\|%{GREEDYDATA:extension})re"},
};

// Grok's names, as Logstash has them, in RE2's syntax; the last ones are ours.
constexpr Known kPatterns[] = {
    {"USERNAME", R"re([a-zA-Z0-9._-]+)re"},
    {"USER", R"re(%{USERNAME})re"},
    {"EMAILLOCALPART", R"re([a-zA-Z0-9!#$%&'*+/=?^_`{|}~.-]+)re"},
    {"EMAILADDRESS", R"re(%{EMAILLOCALPART}@%{HOSTNAME})re"},
    {"INT", R"re([+-]?[0-9]+)re"},
    {"BASE10NUM", R"re([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))re"},
    {"NUMBER", R"re(%{BASE10NUM})re"},
    {"BASE16NUM", R"re([+-]?(?:0x)?[0-9A-Fa-f]+)re"},
    {"BASE16FLOAT", R"re([+-]?(?:0x)?(?:[0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?|\.[0-9A-Fa-f]+))re"},
    {"POSINT", R"re([1-9][0-9]*)re"},
    {"NONNEGINT", R"re([0-9]+)re"},
    {"WORD", R"re(\b\w+\b)re"},
    {"NOTSPACE", R"re(\S+)re"},
    {"SPACE", R"re(\s*)re"},
    {"DATA", R"re(.*?)re"},
    {"GREEDYDATA", R"re(.*)re"},
    {"QUOTEDSTRING", R"re("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)re"},
    {"QS", R"re(%{QUOTEDSTRING})re"},
    {"UUID", R"re([A-Fa-f0-9]{8}-(?:[A-Fa-f0-9]{4}-){3}[A-Fa-f0-9]{12})re"},
    {"MAC", R"re((?:[A-Fa-f0-9]{2}[:-]){5}[A-Fa-f0-9]{2}|(?:[A-Fa-f0-9]{4}\.){2}[A-Fa-f0-9]{4})re"},
    {"IPV4",
     R"re((?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2}))re"},
    {"IPV6", R"re([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:%{IPV4})?(?:%[0-9A-Za-z]+)?)re"},
    {"IP", R"re(%{IPV6}|%{IPV4})re"},
    {"HOSTNAME", R"re(\b[0-9A-Za-z][0-9A-Za-z_-]{0,62}(?:\.[0-9A-Za-z][0-9A-Za-z_-]{0,62})*\.?)re"},
    {"HOST", R"re(%{HOSTNAME})re"},
    {"IPORHOST", R"re(%{IP}|%{HOSTNAME})re"},
    {"HOSTPORT", R"re(%{IPORHOST}:%{POSINT})re"},
    {"UNIXPATH", R"re((?:/[^\s/]*)+)re"},
    {"WINPATH", R"re((?:[A-Za-z]+:|\\)(?:\\[^\\?*]*)+)re"},
    {"PATH", R"re(%{UNIXPATH}|%{WINPATH})re"},
    {"TTY", R"re(/dev/(?:pts|tty[a-z]?)/?[0-9]+)re"},
    {"URIPROTO", R"re([A-Za-z][A-Za-z0-9+.-]+)re"},
    {"URIHOST", R"re((?:%{IPORHOST})(?::%{POSINT})?)re"},
    {"URIPATH", R"re((?:/[A-Za-z0-9$.+!*'(){},~:;=@#%&_-]*)+)re"},
    {"URIPARAM", R"re(\?[A-Za-z0-9$.+!*'|(){},~@#%&/=:;_?\[\]<>-]*)re"},
    {"URIPATHPARAM", R"re(%{URIPATH}(?:%{URIPARAM})?)re"},
    {"URI", R"re(%{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATHPARAM})?)re"},
    {"MONTH",
     R"re(\b(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ep(?:t(?:ember)?)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\b)re"},
    {"MONTHNUM", R"re(0?[1-9]|1[0-2])re"},
    {"MONTHNUM2", R"re(0[1-9]|1[0-2])re"},
    {"MONTHDAY", R"re((?:0[1-9]|[12][0-9]|3[01]|[1-9]))re"},
    {"DAY", R"re((?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?)re"},
    {"YEAR", R"re([0-9]{4}|[0-9]{2})re"},
    {"HOUR", R"re(2[0-3]|[01]?[0-9])re"},
    {"MINUTE", R"re([0-5][0-9])re"},
    {"SECOND", R"re((?:[0-5]?[0-9]|60)(?:[:.,][0-9]+)?)re"},
    {"TIME", R"re((?:%{HOUR}):%{MINUTE}(?::%{SECOND})?)re"},
    {"DATE_US", R"re((?:%{MONTHNUM})[/-]%{MONTHDAY}[/-](?:%{YEAR}))re"},
    {"DATE_EU", R"re(%{MONTHDAY}[./-](?:%{MONTHNUM})[./-](?:%{YEAR}))re"},
    {"DATE", R"re(%{DATE_US}|%{DATE_EU})re"},
    {"TZ", R"re([A-Z]{3,4})re"},
    {"ISO8601_TIMEZONE", R"re(Z|[+-](?:%{HOUR}):?%{MINUTE})re"},
    {"TIMESTAMP_ISO8601",
     R"re([0-9]{4}-(?:%{MONTHNUM2})-%{MONTHDAY}[T ](?:%{HOUR}):?%{MINUTE}(?::?%{SECOND})?(?:%{ISO8601_TIMEZONE})?)re"},
    {"DATESTAMP", R"re((?:%{DATE})[- ]%{TIME})re"},
    {"HTTPDATE", R"re(%{MONTHDAY}/%{MONTH}/(?:%{YEAR}):%{TIME} %{INT})re"},
    {"SYSLOGTIMESTAMP", R"re(%{MONTH} +%{MONTHDAY} %{TIME})re"},
    {"PROG", R"re([^\s\[\]:]+)re"},
    {"SYSLOGHOST", R"re(%{IPORHOST})re"},
    {"SYSLOGPROG", R"re(%{PROG:program}(?:\[%{POSINT:pid}\])?)re"},
    {"SYSLOGFACILITY", R"re(<%{NONNEGINT:facility}.%{NONNEGINT:priority}>)re"},
    {"SYSLOGBASE",
     R"re(%{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGHOST:logsource}) %{SYSLOGPROG}:)re"},
    {"LOGLEVEL",
     R"re((?i:trace[1-8]?|debug|info(?:rmation)?|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|alert|fatal|severe|emerg(?:ency)?))re"},
    {"HTTPDUSER", R"re(%{EMAILADDRESS}|%{USER})re"},
    {"COMMONAPACHELOG",
     R"re((?:%{IPORHOST:clientip}) (?:%{HTTPDUSER:ident}) (?:%{HTTPDUSER:auth}) \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})" (?:-|%{NUMBER:response}) (?:-|%{NUMBER:bytes}))re"},
    {"COMBINEDAPACHELOG", R"re(%{COMMONAPACHELOG} %{QS:referrer} %{QS:agent})re"},
    {"NGINXTIME", R"re([0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})re"},
    {"APACHETIME", R"re([A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:.]+ [0-9]{4})re"},
    {"NOTBRACKET", R"re([^\]]+)re"},
    {"SYSLOGDATA", R"re(-|(?:\[(?:[^"\]]|"(?:[^"\\]|\\.)*")*\])+)re"},
    {"CEFFRONT", R"re(.*?)re"},
    {"CEFFIELD", R"re((?:[^|\\]|\\.)*)re"},
};

constexpr Field kAccessFields[] = {
    {"host", LogType::kString},  {"ident", LogType::kString},    {"user", LogType::kString},
    {"time", LogType::kInstant}, {"request", LogType::kString},  {"status", LogType::kInt},
    {"bytes", LogType::kInt},    {"referrer", LogType::kString}, {"agent", LogType::kString},
};

LogFormat access_format(size_t fields) {
  LogFormat format;
  for (size_t f = 0; f < fields; ++f)
    format.fields.push_back({std::string(kAccessFields[f].first), kAccessFields[f].second});
  return format;
}

[[noreturn]] void wrong(std::string_view what, std::string_view detail, std::string_view value,
                        std::string_view fix) {
  throw_error<InvalidArgumentError>(kOp, what, {{detail, value}}, fix);
}

LogType type_of(std::string_view word) {
  constexpr std::pair<std::string_view, LogType> kTypes[] = {{"int", LogType::kInt},
                                                             {"float", LogType::kFloat},
                                                             {"string", LogType::kString},
                                                             {"time", LogType::kInstant},
                                                             {"localtime", LogType::kLocalTime}};
  for (const auto& [name, type] : kTypes)
    if (name == word) return type;
  wrong("unknown type of a field", "type", word, "use int, float, string, time or localtime");
}

class Grok {
 public:
  LogFormat format(std::string_view pattern) {
    expand(pattern);
    if (format_.fields.empty())
      wrong("the pattern has no field", "pattern", pattern, "name some: %{NUMBER:bytes}");
    return std::move(format_);
  }

 private:
  // Only our own patterns name others, so this ends.
  void expand(std::string_view text) {
    std::string& out = format_.pattern;
    while (!text.empty()) {
      if (text[0] == '\\' && text.size() > 1) {
        out.append(text.substr(0, 2));
        text.remove_prefix(2);
      } else if (text.starts_with("%{")) {
        const size_t close = text.find('}');
        if (close == text.npos)
          wrong("a '%{' has no '}'", "at", text.substr(0, 40), "close it, or write \\%{");
        reference(text.substr(2, close - 2));
        text.remove_prefix(close + 1);
      } else if (const size_t front = name_begin(text); front > 0) {
        const size_t close = text.find('>');
        if (close == text.npos) wrong("a group has no name", "at", text.substr(0, 40), "close it");
        open(text.substr(front, close - front), LogType::kString);
        text.remove_prefix(close + 1);
      } else {
        out += text[0];
        text.remove_prefix(1);
      }
    }
  }

  // Where the name of a group begins; 0: no group with a name.
  static size_t name_begin(std::string_view text) {
    if (text.starts_with("(?P<")) return 4;
    return text.starts_with("(?<") && !text.starts_with("(?<=") && !text.starts_with("(?<!") ? 3
                                                                                             : 0;
  }

  void open(std::string_view name, LogType type) {
    for (const LogField& field : format_.fields)
      if (field.name == name)
        wrong("two fields of one name", "name", name, "give each its own name");
    format_.pattern += "(?P<f" + std::to_string(format_.fields.size()) + ">";
    format_.fields.push_back({std::string(name), type});
  }

  // NAME, NAME:field or NAME:field:type.
  void reference(std::string_view words) {
    const size_t first = words.find(':');
    const std::string_view name = words.substr(0, first);
    std::string_view field = first == words.npos ? std::string_view() : words.substr(first + 1);
    LogType type = LogType::kString;
    if (const size_t second = field.find(':'); second != field.npos) {
      type = type_of(field.substr(second + 1));
      field = field.substr(0, second);
    }
    const auto* const known = std::find_if(std::begin(kPatterns), std::end(kPatterns),
                                           [&](const Known& each) { return each.name == name; });
    if (known == std::end(kPatterns))
      wrong("unknown pattern", "name", name,
            "use one of Logstash's core patterns, or write it out: (?<field>...)");
    if (field.empty())
      format_.pattern += "(?:";
    else
      open(field, type);
    expand(known->pattern);
    format_.pattern += ')';
  }

  LogFormat format_{};
};

}  // namespace

Dtype LogField::dtype() const {
  switch (type) {
    case LogType::kInt:
      return TypeId::kInt64;
    case LogType::kFloat:
      return TypeId::kFloat64;
    case LogType::kInstant:
      return Dtype::timestamp(TimeUnit::kMicro, "UTC");
    case LogType::kLocalTime:
      return Dtype::timestamp(TimeUnit::kMicro);
    default:
      return TypeId::kString;
  }
}

const std::vector<std::string>& log_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"combined", "common", "nginx"};
    for (const Known& each : kFormats) all.emplace_back(each.name);
    return all;
  }();
  return names;
}

LogFormat log_format(std::string_view name) {
  if (name == "combined" || name == "nginx") return access_format(std::size(kAccessFields));
  if (name == "common") return access_format(7);
  for (const Known& each : kFormats)
    if (each.name == name) return Grok().format(each.pattern);
  std::string known;
  for (const std::string& each : log_formats()) known += (known.empty() ? "'" : ", '") + each + "'";
  wrong("unknown format", "format", name, "use one of " + known + ", or pattern=");
}

LogFormat grok_format(std::string_view pattern) {
  LogFormat format = Grok().format(pattern);
  format.is_whole_line = false;
  format.dash_is_null = false;
  return format;
}

}  // namespace hr
