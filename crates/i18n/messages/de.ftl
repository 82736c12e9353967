# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated.

### Every page

skip = Zum Inhalt springen
footer-booking = Buchung mit Kalends
footer-console = Kalender mit Kalends
footer-invitation = Einladung mit Kalends
language = Sprache
optional = (optional)
error-title = Fehler: { $title }
place = Ort
call = Online
place-label = Ort:
call-label = Online:

### Times

# Stands between two times, or between a time and a date.
time-to = bis
# A booking or an event within a day.
when-times = { $date }, { $start } bis { $end } ({ $zone })
# From a time on one day to a time on another.
when-days = { $date }, { $start } bis { $last }, { $end } ({ $zone })
when-all-day = { $date }, ganztägig
when-all-days = { $date } bis { $last }, ganztägig
# From one date to another.
dates = { $date } bis { $last }
all-day = Ganztägig
minutes = { $count ->
    [one] { $count } Minute
   *[other] { $count } Minuten
}
hours = { $count ->
    [one] { $count } Stunde
   *[other] { $count } Stunden
}
hours-and-minutes = { $hours } { $minutes }

### The page of a host: days and times to choose from

book-a-time = Termin buchen
title-with-host = { $title } mit { $host }
online = Online. Den Link erhalten Sie nach der Buchung.
months = Monate
previous-month = Vorheriger Monat
next-month = Nächster Monat
# The next two are read out by screen readers.
step-to-month = { $step }, { $month }
heading-with-count = { $heading }, { $count }
today = { $day }, heute
free-days = { $count ->
    [0] keine freien Tage
    [one] { $count } freier Tag
   *[other] { $count } freie Tage
}
free-times = { $count ->
    [0] keine freien Termine
    [one] { $count } freier Termin
   *[other] { $count } freie Termine
}
times-are-shown-in = Zeitzone
# The button next to a list of time zones. Its longer name for screen readers must contain the short one.
switch = Wechseln
switch-zone = Wechseln der Zeitzone
hosts-time = Zeit des Gastgebers anzeigen, { $zone }
morning = Vormittag
afternoon = Nachmittag
evening = Abend
nothing-free-in = Im { $month } ist nichts frei
first-free-day = Erster freier Tag: { $day }
nothing-free = Zurzeit sind keine Termine frei. Pläne ändern sich, und Termine werden wieder frei: Schauen Sie an einem anderen Tag noch einmal nach.
move-title = Buchung verschieben: { $title }
move-hint = Wählen Sie einen anderen Termin. Bis Sie ihn bestätigen, bleibt dieser gebucht:
zones-here = Hier
zones-africa = Afrika
zones-america = Amerika
zones-asia = Asien
zones-pacific = Australien und Pazifik
zones-europe = Europa
zones-other = Weitere

### The form of a booking

your-details = Ihre Angaben
details-title = Ihre Angaben: { $title }
choose-another = Anderen Termin wählen
nothing-booked = Noch ist nichts gebucht.
please-correct = Bitte korrigieren Sie:
name = Ihr Name
email = Ihre E-Mail-Adresse
email-hint = Für die Bestätigung mit Links zum Verschieben oder Stornieren.
notes = Anmerkungen
your-answers = Ihre Antworten
choose-one = Bitte wählen
no-answer = Keine Angabe
# Label of a field that only robots fill in.
leave-empty = Dieses Feld leer lassen
book-at = { $day }, { $time } buchen
problem-required = Diese Angabe fehlt.
problem-too-long = { $max ->
    [one] Höchstens { $max } Zeichen.
   *[other] Höchstens { $max } Zeichen.
}
problem-email = Geben Sie eine vollständige E-Mail-Adresse ein, z. B. name@example.com.
problem-phone = Geben Sie eine Telefonnummer ein, z. B. +49 30 123456.
problem-choice = Wählen Sie eine der Möglichkeiten.
problem-tick = Kreuzen Sie dieses Feld an, um fortzufahren.
problem-other = Diese Eingabe ist nicht möglich. Bitte ändern Sie sie.
problem-answers = Die Antworten sind zusammen zu lang. Bitte kürzen Sie sie.

### After a booking

you-are-booked = Ihr Termin ist gebucht
booked-title = Gebucht: { $title }
moved-heading = Ihre Buchung wurde verschoben
moved-title = Verschoben: { $title }
no-longer-at = Der bisherige Termin entfällt: { $date }, { $time }.
confirmation-sent = Eine Bestätigung ist unterwegs an { $address }.
add-to-calendar = In den Kalender eintragen
calendar-file = Kalenderdatei (.ics)
change-it = Buchung ändern
move-it = Verschieben
cancel-it = Stornieren

### The chosen time is gone

taken = Dieser Termin wurde gerade vergeben
taken-title = Dieser Termin wurde gerade vergeben: { $title }
taken-now = { $date }, { $time } ist nicht mehr frei. Für Sie wurde nichts gebucht.
taken-unmoved = { $date }, { $time } ist nicht mehr frei. Ihre Buchung wurde nicht verschoben.
nearest-times = Die nächsten freien Termine
none-left = Zurzeit ist kein anderer Termin frei.
book-instead = Diesen buchen
choose-this = Diesen wählen
input-kept = Ihre Eingaben bleiben erhalten.
times-are-in = Zeitzone: { $zone }.
see-all-times = Alle freien Termine ansehen

### Moving a booking

confirm-move-title = Neuen Termin bestätigen: { $title }
confirm-move = Buchung auf diesen Termin verschieben?
currently-at = Bisheriger Termin: { $date }, { $time }. Er wird dann für andere frei.
move-button = Buchung verschieben

### Cancelling a booking

cancel-question = Diese Buchung stornieren?
booked-by = Gebucht von { $name }. Wenn Sie stornieren, wird der Termin für andere frei.
cancelled-now = Ihre Buchung ist storniert
cancelled-now-text = Der Termin ist für andere frei. Sie müssen nichts weiter tun.
cancelled-before = Diese Buchung war schon storniert
cancelled-before-text = Der Termin findet nicht statt. Sie müssen nichts weiter tun.
past = Diese Buchung lässt sich nicht mehr ändern
past-text = Der Termin hat schon begonnen oder ist vorbei. Bitte schreiben Sie dem Gastgeber, wenn sich etwas geändert hat.
cancel-button = Buchung stornieren
move-instead = Stattdessen verschieben
keep-it = Wenn Sie die Buchung behalten möchten, schließen Sie einfach diese Seite.
book-another = Anderen Termin buchen

### Whether a host gets emails about bookings

emails-title = E-Mails zu Buchungen: { $title }
emails-heading = E-Mails zu Buchungen
emails-asked = { $organization } möchte Ihnen eine E-Mail senden, wenn jemand auf der Seite „{ $title }“ einen Termin bucht, verschiebt oder storniert.
emails-question = Möchten Sie diese E-Mails an { $address } erhalten?
emails-sent = Sie erhalten eine E-Mail an { $address }, wenn jemand auf der Seite „{ $title }“ einen Termin bucht, verschiebt oder storniert.
emails-stopped = Sie erhalten keine E-Mails an { $address } zu Buchungen auf der Seite „{ $title }“.
emails-send = Diese E-Mails senden
emails-refuse = Nicht senden
emails-stop = Diese E-Mails beenden
emails-hint = Sie können das hier jederzeit ändern.

### Where replies to emails go

replies-heading = Antworten auf E-Mails
replies-question = { $organization } möchte, dass Antworten auf E-Mails, zum Beispiel auf Einladungen, an { $address } gehen. Stimmen Sie zu?
replies-agreed = Antworten auf E-Mails von { $organization } gehen an { $address }.
replies-stopped = Antworten auf E-Mails von { $organization } gehen nicht an { $address }.
replies-agree = Antworten hier erhalten
replies-refuse = Nicht erhalten
replies-stop = Keine Antworten mehr erhalten

### Invitations

invitation-title = Einladung: { $title }
invites-you = { $organizer } lädt Sie ein
you-accepted = Sie haben zugesagt.
you-replied-maybe = Sie haben mit „Vielleicht“ geantwortet.
you-declined = Sie haben abgelehnt.
reply-recorded = Ihre Antwort ist gespeichert. Sie können sie hier ändern, bis der Termin vorbei ist.
reply-changeable = Sie können Ihre Antwort unten ändern.
event-cancelled = Dieser Termin ist abgesagt.
event-cancelled-text = Sie müssen nichts tun.
event-over = Dieser Termin ist vorbei.
event-over-text = Antworten sind nicht mehr möglich.
event-repeats = Dieser Termin wiederholt sich. Er beginnt an diesem Tag, und Ihre Antwort gilt für alle Tage.
reply-not-recorded = Ihre Antwort ist nicht gespeichert.
choose-a-reply = Bitte wählen Sie eine der drei Antworten.
note-to-organizer = Nachricht an den Organisator
accept = Zusagen
maybe = Vielleicht
decline = Ablehnen
reply-as = Sie antworten als { $email }. Der Organisator sieht Ihre Antwort und Ihre Nachricht, andere Gäste nicht.

### Instead of a page

no-page = Hier gibt es keine Buchungsseite
no-page-text = Vielleicht ist die Adresse falsch geschrieben oder abgeschnitten, oder die Seite wurde entfernt.
no-page-advice = Bitten Sie die Person, von der Sie den Link haben, um einen neuen. Bestehende Buchungen sind nicht betroffen.
no-console-page = Hier gibt es keine Seite
no-console-page-text = Die Adresse ist vielleicht falsch geschrieben oder unvollständig.
go-to-console = Zur Konsole
not-accepted = Das hat nicht geklappt
not-accepted-text = Das Formular ist vielleicht veraltet oder kommt von einer anderen Seite. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.
other-address = Diese Seite wurde unter einer anderen Adresse geöffnet
other-address-text = Öffnen Sie sie unter { $address } und versuchen Sie es noch einmal.
closed = Buchungen sind zurzeit nicht möglich
closed-text = Im Moment werden keine weiteren Buchungen angenommen. Bestehende Buchungen sind nicht betroffen.
closed-advice = Versuchen Sie es an einem anderen Tag noch einmal, oder schreiben Sie der Person, die Sie treffen möchten.
no-booking = Dieser Link führt zu keiner Buchung
no-booking-text = Vielleicht ist der Link abgeschnitten, oder die Buchung wurde entfernt. Bitte verwenden Sie den ganzen Link aus Ihrer Bestätigung.
not-moved = Diese Buchung lässt sich nicht verschieben
not-moved-text = Die Seite, auf der Sie gebucht haben, nimmt keine Buchungen mehr an oder ist abgeschaltet. Ihre Buchung ist nicht betroffen. Mit dem Link aus Ihrer Bestätigung können Sie sie stornieren.
no-invitation = Dieser Link führt zu keiner Einladung
no-invitation-text = Vielleicht ist der Link abgeschnitten, der Termin wurde gelöscht, oder Sie sind nicht mehr eingeladen.
no-invitation-advice = Bitte verwenden Sie den ganzen Link aus der neuesten E-Mail zu diesem Termin.
no-reply-link = Dieser Link funktioniert nicht mehr
no-reply-link-text = Vielleicht ist er abgeschnitten, durch eine neuere E-Mail ersetzt oder abgelaufen. Es ändert sich nichts.
no-reply = Ihre Antwort wurde nicht gespeichert
no-reply-text = Bitte öffnen Sie den Link aus der E-Mail noch einmal, und wählen Sie eine der Antworten.
too-many = Einen Moment, bitte
too-many-text = Aus Ihrem Netz kamen in kurzer Zeit viele Anfragen.
too-many-seconds = { $count ->
    [one] Bitte warten Sie eine Sekunde, und versuchen Sie es noch einmal. Es hat sich nichts geändert.
   *[other] Bitte warten Sie { $count } Sekunden, und versuchen Sie es noch einmal. Es hat sich nichts geändert.
}
too-many-minutes = { $count ->
    [one] Bitte warten Sie eine Minute, und versuchen Sie es noch einmal. Es hat sich nichts geändert.
   *[other] Bitte warten Sie { $count } Minuten, und versuchen Sie es noch einmal. Es hat sich nichts geändert.
}
not-offered = Dieser Termin kann nicht gebucht werden
not-offered-text = Der Link nennt einen Termin, den diese Seite nicht anbietet. Bitte wählen Sie einen der freien Termine.
failed = Bei uns ist etwas schiefgegangen
failed-text = Ihre Anfrage konnte nicht ausgeführt werden. Bitte versuchen Sie es in einer Minute noch einmal.
failed-number = Wenn es wieder passiert, nennen Sie dem Gastgeber diese Nummer: { $number }
see-free-times = Freie Termine ansehen

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = Guten Tag,
mail-signature = Kalends, das Kalender-Backend für KI-Agenten. Kalends liest keine Antworten.
mail-booking = Ihre Buchung „{ $title }“
mail-booking-with = Ihre Buchung „{ $title }“ mit { $host }
mail-booked-subject = Ihre Buchung ist bestätigt
# { $booking } is mail-booking or mail-booking-with, at the beginning of the sentence after the greeting.
mail-booked = { $booking } ist bestätigt: { $when }.
mail-moved-subject = Ihre Buchung wurde verschoben
mail-moved = { $booking } wurde verschoben. Der neue Termin: { $when }.
mail-reminder-subject = Erinnerung: { $title }
mail-reminder = { $booking } steht an: { $when }.
mail-cancelled-subject = Ihre Buchung ist storniert
mail-cancelled = { $booking } ist storniert: { $when }. Sie müssen nichts tun.
mail-called-off-subject = Ihre Buchung wurde storniert
mail-called-off = { $booking } wurde vom Gastgeber storniert: { $when }.
mail-host-writes = Der Gastgeber schreibt:
mail-book-another = Einen anderen Termin buchen Sie hier:
mail-move = Einen anderen Termin wählen Sie hier:
mail-cancel = Stornieren können Sie hier:
mail-links-are-secret = Wer diese Links hat, kann das auch tun: Leiten Sie diese Nachricht nicht weiter. Wenn Sie nichts gebucht haben, hat jemand versehentlich Ihre Adresse angegeben; stornieren Sie dann die Buchung, oder ignorieren Sie diese Nachricht.
mail-place = Ort: { $place }
mail-call = Online:
# In the guest's calendar, before the link that moves the booking.
calendar-move = Anderen Termin wählen:
